#include "compiler/sema/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/suggest.h"

namespace pp::sema {

using diag::Code;

Resolver::Resolver(const source::SourceManager& sources,
                   const FlatSchedule& flat,
                   std::set<const ast::MacroDecl*>& used_macros,
                   diag::Emitter& diag)
    : sources_(sources), flat_(flat), used_macros_(used_macros), diag_(diag) {}

Program Resolver::Run() {
  program_.name = flat_.own().name.text;
  program_.name_span = flat_.own().name.span;
  ResolveParams();
  ResolveLets();
  scope_.EnterInner();
  ResolveRequires();
  ResolvePlace();
  ResolveWalks();
  ResolveRanks();
  ResolveMacros();
  ResolveExpects();
  WarnUnused();
  return std::move(program_);
}

std::string Resolver::Text(Span span) const {
  std::string text;
  bool blank = false;
  for (char c : sources_.Text(span)) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = !text.empty();
      continue;
    }
    if (blank) text += ' ';
    blank = false;
    text += c;
  }
  return text;
}

// ---- Names ----------------------------------------------------------------

Slot Resolver::Declare(const ast::Identifier& name, const char* kind) {
  Binding binding{program_.slots, name.span, kind, layer_, false};
  for (const char* metric : {"bubble", "makespan", "messages"}) {
    if (name.text != metric) continue;
    diag_.Emit(Code::kDuplicateName, name.span,
               fmt::format("`{}` is what an `expect` is about and cannot be "
                           "the name of a {}",
                           metric, kind));
  }
  if (const Binding* other = scope_.Declare(name.text, binding)) {
    diag_
        .Emit(Code::kDuplicateName, name.span,
              fmt::format("`{}` is declared already, and no name may hide "
                          "another",
                          name.text))
        .Note(other->declared,
              fmt::format("the {} is declared here", other->kind));
  }
  program_.slot_names.push_back(name.text);
  return program_.slots++;
}

// A name that the language binds: c, m, r.
Slot Resolver::DeclareImplicit(const char* name, Span where,
                               const char* meaning) {
  Binding binding{program_.slots, where, meaning, layer_, true};
  if (const Binding* other = scope_.Declare(name, binding)) {
    diag_
        .Emit(Code::kDuplicateName, other->declared,
              fmt::format("`{}` is the {}: this {} needs another name", name,
                          meaning, other->kind))
        .Note(where, "because of this line");
  }
  program_.slot_names.emplace_back(name);
  return program_.slots++;
}

void Resolver::LeaveScope(size_t mark) {
  scope_.DropTo(mark, [&](llvm::StringRef name, const Binding& binding) {
    WarnIfUnused(name, binding);
  });
}

void Resolver::WarnIfUnused(llvm::StringRef name, const Binding& binding) {
  // What an ancestor declares may well be unused in a variation of it. Loop
  // and rank variables need not be used.
  llvm::StringRef kind = binding.kind;
  bool worth =
      kind == "parameter" || kind == "`let`" || kind == "macro parameter";
  if (binding.used || binding.layer > 0 || !worth || name.startswith("_")) {
    return;
  }
  if (kind == "parameter" && (name == "P" || name == "M")) return;
  diag_.Emit(Code::kUnused, binding.declared,
             fmt::format("{} `{}` is not used", binding.kind, name.str()));
}

// ---- Parameters and lets --------------------------------------------------

void Resolver::ResolveParams() {
  for (const auto& owned : flat_.params) {
    layer_ = owned.layer;
    Param param;
    param.name = owned.node->name.text;
    param.span = owned.node->name.span;
    if (owned.node->default_value) {
      param.default_value = ResolveNumber(*owned.node->default_value);
    }
    Slot slot = Declare(owned.node->name, "parameter");
    if (param.name == "P") program_.ranks = slot;
    if (param.name == "M") program_.micro_batches = slot;
    program_.params.push_back(std::move(param));
  }
  layer_ = 0;
  for (auto [slot, name, meaning] :
       {std::tuple{program_.ranks, "P", "the number of ranks"},
        std::tuple{program_.micro_batches, "M",
                   "the number of micro-batches"}}) {
    if (slot != kNone) continue;
    diag_
        .Emit(Code::kMissingParameter, program_.name_span,
              fmt::format("schedule `{}` does not list the parameter `{}`, {}",
                          program_.name, name, meaning))
        .Help(fmt::format("`schedule {}(P, M)`", program_.name));
    Slot made = DeclareImplicit(name, program_.name_span, meaning);
    (name[0] == 'P' ? program_.ranks : program_.micro_batches) = made;
  }
}

void Resolver::ResolveLets() {
  let_state_.assign(flat_.lets.size(), LetState::kWaiting);
  for (size_t i = 0; i < flat_.lets.size(); ++i) {
    if (let_state_[i] == LetState::kWaiting) ResolveLet(i, nullptr);
  }
}

// Lets of a schedule may stand in any order (a child's may be what a let of
// its parent needs): one that is used before it is resolved is resolved then.
bool Resolver::ResolveLet(size_t index, const Span* use) {
  const auto& owned = flat_.lets[index];
  const std::string& name = owned.node->name.text;
  constexpr size_t kMaxOpenLets = 100;
  if (let_state_[index] == LetState::kOpen ||
      open_lets_.size() == kMaxOpenLets) {
    bool circle = let_state_[index] == LetState::kOpen;
    auto builder = diag_.Emit(
        circle ? Code::kLetCycle : Code::kTooDeep, *use,
        circle ? fmt::format("`{}` is needed to work out `{}`", name, name)
               : fmt::format("lets rest on each other more than {} deep",
                             kMaxOpenLets));
    for (size_t i : open_lets_) {
      const auto& open = flat_.lets[i].node->name;
      builder.Note(open.span, fmt::format("while working out `{}`", open.text));
    }
    return false;
  }
  let_state_[index] = LetState::kOpen;
  open_lets_.push_back(index);
  uint32_t outer_depth = std::exchange(expr_depth_, 0);
  uint32_t outer_layer = std::exchange(layer_, owned.layer);
  Let let;
  let.name = name;
  let.value = ResolveNumber(*owned.node->value);
  let.slot = Declare(owned.node->name, "`let`");
  program_.lets.push_back(let);
  let_index_[name] = static_cast<uint32_t>(program_.lets.size());
  layer_ = outer_layer;
  expr_depth_ = outer_depth;
  open_lets_.pop_back();
  let_state_[index] = LetState::kDone;
  return true;
}

// ---- require, place, walk -------------------------------------------------

void Resolver::ResolveRequires() {
  for (const auto& owned : flat_.requires_) {
    layer_ = owned.layer;
    Require require;
    let_need_ = 0;
    require.condition = ResolveNumber(*owned.node->condition);
    require.lets = let_need_;
    require.message = owned.node->message.value_or("");
    require.text = Text(owned.node->condition->span);
    require.span = owned.span;
    program_.requires_.push_back(std::move(require));
  }
}

void Resolver::ResolvePlace() {
  if (flat_.places.empty()) {
    diag_
        .Emit(Code::kPlaceCount, program_.name_span,
              fmt::format("schedule `{}` does not say where its stages live",
                          program_.name))
        .Help(
            "add `place linear`, or `loop(v)`, `vee`, `wave(k)`, `custom { ... "
            "}`");
    return;
  }
  const auto& owned = flat_.places.front();
  for (size_t i = 1; i < flat_.places.size(); ++i) {
    diag_
        .Emit(Code::kPlaceCount, flat_.places[i].span,
              "a schedule has one `place`, this is another")
        .Note(owned.span, "the first is here");
  }
  layer_ = owned.layer;
  program_.placement.span = owned.span;
  if (auto* loop = std::get_if<ast::PlaceLoop>(&owned.node->kind)) {
    program_.placement.kind = Loop{ResolveNumber(*loop->chunks)};
  } else if (std::holds_alternative<ast::PlaceVee>(owned.node->kind)) {
    program_.placement.kind = Vee{};
  } else if (auto* wave = std::get_if<ast::PlaceWave>(&owned.node->kind)) {
    program_.placement.kind = Wave{ResolveNumber(*wave->chunks)};
  } else if (auto* custom = std::get_if<ast::PlaceCustom>(&owned.node->kind)) {
    Custom resolved;
    for (const ast::CustomRule& rule : custom->rules) {
      ResolveRule(rule, resolved);
    }
    program_.placement.kind = std::move(resolved);
  }
}

void Resolver::ResolveRule(const ast::CustomRule& rule, Custom& custom) {
  Rule resolved;
  resolved.span = rule.span;
  resolved.begin = ResolveNumber(*rule.begin);
  if (rule.end) resolved.end = ResolveNumber(*rule.end);
  size_t mark = scope_.Mark();
  if (rule.variable) resolved.slot = Declare(*rule.variable, "stage variable");
  resolved.rank = ResolveNumber(*rule.rank);
  if (rule.chunk) resolved.chunk = ResolveNumber(*rule.chunk);
  LeaveScope(mark);
  custom.rules.push_back(resolved);
}

void Resolver::ResolveWalks() {
  for (const auto& owned : flat_.walks) {
    layer_ = owned.layer;
    if (owned.node->op == ast::OpLetter::kW) {
      diag_
          .Emit(Code::kWalkOfW, owned.node->op_span,
                "`W` has no walk: it takes the oldest `I` that still owes one")
          .Help("`W[c]` takes the oldest of chunk c");
      continue;
    }
    Walk walk;
    walk.span = owned.span;
    size_t mark = scope_.Mark();
    walk.chunk = DeclareImplicit("c", owned.span, "chunk in a walk");
    walk.micro_batch =
        DeclareImplicit("m", owned.span, "micro-batch in a walk");
    walk.rank = DeclareImplicit("r", owned.span, "rank in a walk");
    if (Binding* rank = scope_.Find("r")) rank->used = false;
    for (const ast::ExprPtr& key : owned.node->key) {
      walk.key.push_back(ResolveNumber(*key));
    }
    if (Binding* rank = scope_.Find("r")) walk.uses_rank = rank->used;
    LeaveScope(mark);
    bool forward = owned.node->op == ast::OpLetter::kF;
    program_.walks[static_cast<size_t>(
        forward ? CursorId::kForward : CursorId::kBackward)] = std::move(walk);
  }
}

// ---- Ranks, macros --------------------------------------------------------

void Resolver::ResolveRanks() {
  if (flat_.ranks.empty()) {
    diag_
        .Emit(Code::kNoRankBlock, program_.name_span,
              fmt::format("schedule `{}` has no rank block", program_.name))
        .Help("`rank r { ... }` is the program of every rank");
  }
  for (const auto& owned : flat_.ranks) {
    layer_ = owned.layer;
    RankBlock block;
    block.span = owned.span;
    if (owned.node->variable) block.span = owned.node->variable->span;
    if (owned.node->begin) {
      block.begin = ResolveNumber(*owned.node->begin);
      block.span = owned.node->begin->span;
    }
    if (owned.node->end) {
      block.end = ResolveNumber(*owned.node->end);
      block.span.end = owned.node->end->span.end;
    }
    size_t mark = scope_.Mark();
    if (owned.node->variable) {
      block.slot = Declare(*owned.node->variable, "rank variable");
    }
    block.form = owned.node->form;
    if (owned.node->period) block.period = ResolveNumber(*owned.node->period);
    if (block.form == ast::RankForm::kSlots) {
      block.micro_batch =
          DeclareImplicit("m", block.span, "micro-batch in `slots`");
    }
    block.body = ResolveBlock(owned.node->body);
    LeaveScope(mark);
    program_.rank_blocks.push_back(block);
  }
}

// Those that nothing called are judged too.
void Resolver::ResolveMacros() {
  for (const auto& owned : flat_.macros) {
    if (schedule_macros_used_.count(owned.node) > 0) continue;
    layer_ = owned.layer;
    if (macros_.count(owned.node) == 0) {
      ResolveMacro({owned.node, nullptr, owned.layer}, owned.node->name.span);
    }
  }
}

// ---- expect ---------------------------------------------------------------

void Resolver::ResolveExpects() {
  in_expect_ = true;
  for (const auto& owned : flat_.expects) {
    layer_ = owned.layer;
    ResolveExpect(owned);
  }
  in_expect_ = false;
}

void Resolver::ResolveExpect(const Owned<ast::ExpectDecl>& owned) {
  const ast::Expr& claim = *owned.node->claim;
  Expect expect;
  expect.span = claim.span;
  expect.text = Text(claim.span);
  size_t mark = scope_.Mark();
  expect.rank = DeclareImplicit("r", owned.span, "rank in an `expect`");
  if (Binding* rank = scope_.Find("r")) rank->used = false;
  Typed whole = Resolve(claim);
  Expr root = program_.exprs[whole.id];
  bool compares = root.kind >= ExprKind::kEq && root.kind <= ExprKind::kGe;
  if (owned.node->condition) {
    expect.condition = ResolveNumber(*owned.node->condition);
  }
  if (Binding* rank = scope_.Find("r")) expect.per_rank = rank->used;
  LeaveScope(mark);
  if (whole.bad || !compares) return;  // the parser gives comparisons only
  expect.comparison = root.kind;
  expect.left = root.a;
  expect.right = root.b;
  expect.dimension = DimensionOf(root.a);
  program_.expects.push_back(std::move(expect));
}

// ---- Unused ---------------------------------------------------------------

void Resolver::WarnUnused() {
  std::vector<std::string_view> lets = LetNames(flat_);
  auto replaces_nothing = [&](const ast::Identifier& name) {
    std::erase(lets, name.text);
    diag_
        .Emit(Code::kReplacesNothing, name.span,
              fmt::format("`let {}` replaces nothing of `{}` and nothing uses "
                          "it",
                          name.text, flat_.own().parent->text))
        .Help(diag::DidYouMean(name.text, lets));
  };
  for (const auto& [name, owned] : flat_.let_overrides) {
    if (owned.layer == 0 && lets_applied_.count(name) == 0) {
      replaces_nothing(owned.node->name);
    }
  }
  for (const auto& owned : flat_.lets) {
    Binding* binding = scope_.Find(owned.node->name.text);
    if (owned.layer > 0 || binding == nullptr || binding->used) continue;
    if (flat_.layers.size() > 1) {
      replaces_nothing(owned.node->name);
    } else {
      WarnIfUnused(owned.node->name.text, *binding);
    }
  }
  for (const auto& owned : flat_.params) {
    Binding* binding = scope_.Find(owned.node->name.text);
    if (binding != nullptr) WarnIfUnused(owned.node->name.text, *binding);
  }
  for (const auto& owned : flat_.macros) {
    if (owned.layer > 0 || schedule_macros_used_.count(owned.node) > 0)
      continue;
    diag_.Emit(Code::kUnused, owned.node->name.span,
               fmt::format("macro `{}` is not used", owned.node->name.text));
  }
}

}  // namespace pp::sema
