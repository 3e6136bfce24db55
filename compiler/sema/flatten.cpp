#include "compiler/sema/flatten.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/diag/suggest.h"
#include "compiler/sema/expr_text.h"

namespace pp::sema {
namespace {

using Names = std::vector<std::string_view>;

constexpr size_t kMaxLayers = 100;

// B and I share a cursor, and so a walk.
ast::OpLetter CursorOf(ast::OpLetter op) {
  return op == ast::OpLetter::kI ? ast::OpLetter::kB : op;
}

template <class Node>
void CollectNames(const ast::Block& block, Names& names);

template <class Node>
struct NameCollector {
  Names& names;
  void operator()(const ast::OpStmt&) const {}
  void operator()(const ast::MacroCall&) const {}
  void operator()(const ast::LetStmt& s) const {
    if constexpr (std::is_same_v<Node, ast::LetStmt>) {
      names.push_back(s.name.text);
    }
  }
  void operator()(const ast::PhaseStmt& s) const {
    if constexpr (std::is_same_v<Node, ast::PhaseStmt>) {
      names.push_back(s.name.text);
    }
    CollectNames<Node>(s.body, names);
  }
  void operator()(const ast::RepeatStmt& s) const {
    CollectNames<Node>(s.body, names);
  }
  void operator()(const ast::ForStmt& s) const {
    CollectNames<Node>(s.body, names);
  }
  void operator()(const ast::IfStmt& s) const {
    CollectNames<Node>(s.then_body, names);
    CollectNames<Node>(s.else_body, names);
  }
};

template <class Node>
void CollectNames(const ast::Block& block, Names& names) {
  for (const ast::Stmt& stmt : block) {
    std::visit(NameCollector<Node>{names}, stmt.node);
  }
}

// Names in the rank blocks and in the phases that replace parts of them.
template <class Node>
Names NamesInRanks(const FlatSchedule& flat) {
  Names names;
  for (const auto& rank : flat.ranks) {
    CollectNames<Node>(rank.node->body, names);
  }
  for (const auto& [name, phase] : flat.phase_overrides) {
    CollectNames<Node>(phase.node->body, names);
  }
  return names;
}

bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Node>
auto Find(std::vector<Owned<Node>>& list, std::string_view name) {
  return std::find_if(list.begin(), list.end(), [&](const Owned<Node>& owned) {
    return owned.node->name.text == name;
  });
}

// Lays one layer over what its ancestors came to.
class Layer {
 public:
  Layer(FlatSchedule& flat, uint32_t layer, diag::Emitter& diag)
      : flat_(flat),
        layer_(layer),
        decl_(*flat.layers[layer].decl),
        diag_(diag) {}

  void Lay() {
    LayRanks();
    lets_in_ranks_ = NamesInRanks<ast::LetStmt>(flat_);
    LayParams();
    DropReplaced();
    for (const ast::Item& item : decl_.items) {
      std::visit([&](const auto& node) { Add(node, item.span); }, item.node);
    }
  }

 private:
  bool HasParent() const { return layer_ + 1 < flat_.layers.size(); }

  template <class Node>
  Owned<Node> Own(const Node& node, source::Span span) const {
    return {&node, span, layer_};
  }

  // The child's set of rank blocks replaces the parent's with all that was
  // replaced inside it.
  void LayRanks() {
    bool any = std::any_of(
        decl_.items.begin(), decl_.items.end(), [](const ast::Item& item) {
          return std::holds_alternative<ast::RankDecl>(item.node);
        });
    if (!any) return;
    flat_.ranks.clear();
    flat_.let_overrides.clear();
    flat_.phase_overrides.clear();
    own_ranks_ = true;
  }

  void LayParams() {
    std::vector<Owned<ast::Parameter>> params;
    for (const ast::Parameter& param : decl_.params) {
      auto same = Find(params, param.name.text);
      if (same == params.end()) {
        params.push_back(Own(param, param.name.span));
      } else {
        Twice("parameter", param.name, same->node->name.span);
      }
    }
    for (const auto& inherited : flat_.params) {
      const std::string& name = inherited.node->name.text;
      if (Find(params, name) == params.end() && !HasLet(name)) {
        params.push_back(inherited);
      }
    }
    flat_.params = std::move(params);
  }

  bool HasLet(std::string_view name) const {
    return std::any_of(decl_.items.begin(), decl_.items.end(),
                       [&](const ast::Item& item) {
                         auto* let = std::get_if<ast::LetStmt>(&item.node);
                         return let != nullptr && let->name.text == name;
                       });
  }

  // Of `place`, `walk` and `expect` several of one layer stand side by side
  // (to be judged later), but all of an outer layer go.
  void DropReplaced() {
    std::set<std::string> lefts;
    std::set<ast::OpLetter> walks;
    bool place = false;
    for (const ast::Item& item : decl_.items) {
      if (auto* expect = std::get_if<ast::ExpectDecl>(&item.node)) {
        lefts.insert(LeftSide(*expect));
      } else if (auto* walk = std::get_if<ast::WalkDecl>(&item.node)) {
        walks.insert(CursorOf(walk->op));
      } else if (std::holds_alternative<ast::PlaceDecl>(item.node)) {
        place = true;
      }
    }
    if (place) flat_.places.clear();
    std::erase_if(flat_.walks, [&](const auto& walk) {
      return walks.count(CursorOf(walk.node->op)) > 0;
    });
    std::erase_if(flat_.expects, [&](const auto& expect) {
      return lefts.count(LeftSide(*expect.node)) > 0;
    });
  }

  static std::string LeftSide(const ast::ExpectDecl& expect) {
    auto* claim = std::get_if<ast::BinaryExpr>(&expect.claim->node);
    return ExprText(claim != nullptr ? *claim->left : *expect.claim);
  }

  void Twice(const char* kind, const ast::Identifier& name,
             source::Span first) {
    diag_
        .Emit(diag::Code::kDuplicateName, name.span,
              fmt::format("{} `{}` is declared twice", kind, name.text))
        .Note(first, "it is declared here first");
  }

  void Add(const ast::RequireDecl& node, source::Span span) {
    flat_.requires_.push_back(Own(node, span));
  }
  void Add(const ast::PlaceDecl& node, source::Span span) {
    flat_.places.push_back(Own(node, span));
  }
  void Add(const ast::RankDecl& node, source::Span span) {
    flat_.ranks.push_back(Own(node, span));
  }
  void Add(const ast::ExpectDecl& node, source::Span span) {
    flat_.expects.push_back(Own(node, span));
  }

  void Add(const ast::WalkDecl& node, source::Span span) {
    for (const auto& other : flat_.walks) {
      if (CursorOf(other.node->op) != CursorOf(node.op)) continue;
      diag_
          .Emit(diag::Code::kDuplicateName, span,
                "a second walk for the same operations (`B` and `I` share one)")
          .Note(other.span, "the first is here");
      return;
    }
    flat_.walks.push_back(Own(node, span));
  }

  void Add(const ast::QuantitiesDecl& node, source::Span span) {
    auto same = std::find_if(
        flat_.quantities.begin(), flat_.quantities.end(),
        [&](const auto& other) { return other.node->memory == node.memory; });
    if (same == flat_.quantities.end()) {
      flat_.quantities.push_back(Own(node, span));
    } else if (same->layer != layer_) {
      *same = Own(node, span);
    } else {
      diag_
          .Emit(
              diag::Code::kDuplicateName, span,
              fmt::format("a second `{}` block", node.memory ? "mem" : "cost"))
          .Note(same->span, "the first is here");
    }
  }

  void Add(const ast::MacroDecl& node, source::Span span) {
    auto same = Find(flat_.macros, node.name.text);
    if (same == flat_.macros.end()) {
      flat_.macros.push_back(Own(node, span));
    } else if (same->layer == layer_) {
      Twice("macro", node.name, same->node->name.span);
    } else {
      *same = Own(node, span);
    }
  }

  void Add(const ast::LetStmt& node, source::Span span) {
    const std::string& name = node.name.text;
    auto same = Find(flat_.lets, name);
    if (same != flat_.lets.end() && same->layer == layer_) {
      return Twice("`let`", node.name, same->node->name.span);
    }
    if (same != flat_.lets.end()) {
      *same = Own(node, span);
      return;
    }
    auto override = flat_.let_overrides.find(name);
    if (override != flat_.let_overrides.end() &&
        override->second.layer == layer_) {
      return Twice("`let`", node.name, override->second.node->name.span);
    }
    if (override != flat_.let_overrides.end() ||
        (!own_ranks_ && Contains(lets_in_ranks_, name))) {
      flat_.let_overrides[name] = Own(node, span);
    } else {
      flat_.lets.push_back(Own(node, span));
    }
  }

  void Add(const ast::PhaseStmt& node, source::Span span) {
    const std::string& name = node.name.text;
    auto same = flat_.phase_overrides.find(name);
    if (same != flat_.phase_overrides.end() && same->second.layer == layer_) {
      return Twice("phase", node.name, same->second.node->name.span);
    }
    if (own_ranks_ || !HasParent()) {
      diag_
          .Emit(diag::Code::kReplacesNothing, node.name.span,
                fmt::format("phase `{}` stands outside a rank block and "
                            "replaces nothing",
                            name))
          .Help(HasParent()
                    ? "this schedule has rank blocks of its own: put it there"
                    : "put it in a rank block: `rank r { phase ... }`");
      return;
    }
    Names phases = PhaseNames(flat_);
    if (!Contains(phases, name)) {
      diag_
          .Emit(diag::Code::kReplacesNothing, node.name.span,
                fmt::format("phase `{}` replaces nothing: `{}` has no phase of "
                            "that name",
                            name, decl_.parent->text))
          .Help(diag::DidYouMean(name, phases));
      return;
    }
    flat_.phase_overrides[name] = Own(node, span);
  }

  FlatSchedule& flat_;
  uint32_t layer_;
  const ast::ScheduleDecl& decl_;
  diag::Emitter& diag_;
  bool own_ranks_ = false;
  Names lets_in_ranks_;
};

void ReportExtendsCycle(const std::vector<VisibleSchedule>& layers,
                        const VisibleSchedule& again, diag::Emitter& diag) {
  std::string chain;
  for (const auto& layer : layers) chain += layer.decl->name.text + " extends ";
  const auto& last = *layers.back().decl;
  auto builder = diag.Emit(diag::Code::kExtendsCycle, last.parent->span,
                           fmt::format("schedules extend each other in a "
                                       "circle: {}{}",
                                       chain, again.decl->name.text));
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    const auto& decl = *layers[i].decl;
    builder.Note(decl.parent->span,
                 fmt::format("`{}` extends `{}` here", decl.name.text,
                             decl.parent->text));
  }
}

// The parent of the last layer, or null with an error.
std::optional<VisibleSchedule> Parent(
    const std::vector<VisibleSchedule>& layers, diag::Emitter& diag) {
  const VisibleSchedule& child = layers.back();
  const ast::Identifier& name = *child.decl->parent;
  auto found = child.home->schedules.find(name.text);
  if (found == child.home->schedules.end()) {
    Names known;
    for (const auto& [other, visible] : child.home->schedules) {
      if (visible.decl != child.decl) known.push_back(other);
    }
    diag.Emit(diag::Code::kUnknownName, name.span,
              fmt::format("no schedule `{}` to extend, here or in an import",
                          name.text))
        .Help(diag::DidYouMean(name.text, known));
    return std::nullopt;
  }
  for (const auto& layer : layers) {
    if (layer.decl != found->second.decl) continue;
    ReportExtendsCycle(layers, found->second, diag);
    return std::nullopt;
  }
  return found->second;
}

}  // namespace

std::optional<FlatSchedule> Flatten(VisibleSchedule schedule,
                                    diag::Emitter& diag) {
  FlatSchedule flat;
  flat.layers.push_back(schedule);
  while (flat.layers.back().decl->parent) {
    auto parent = Parent(flat.layers, diag);
    if (!parent) return std::nullopt;
    if (flat.layers.size() == kMaxLayers) {
      diag.Emit(diag::Code::kTooDeep, schedule.decl->name.span,
                fmt::format("`{}` has more than {} schedules above it",
                            schedule.decl->name.text, kMaxLayers));
      return std::nullopt;
    }
    flat.layers.push_back(*parent);
  }
  for (size_t layer = flat.layers.size(); layer-- > 0;) {
    Layer(flat, layer, diag).Lay();
  }
  return flat;
}

std::vector<std::string_view> LetNames(const FlatSchedule& flat) {
  Names names = NamesInRanks<ast::LetStmt>(flat);
  for (const auto& let : flat.lets) names.push_back(let.node->name.text);
  return names;
}

std::vector<std::string_view> PhaseNames(const FlatSchedule& flat) {
  return NamesInRanks<ast::PhaseStmt>(flat);
}

}  // namespace pp::sema
