#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compiler/diag/suggest.h"
#include "compiler/sema/resolver.h"

namespace pp::sema {
namespace {

using diag::Code;

// Statements inside statements, macros followed: the depth of recursion when
// the schedule is expanded.
constexpr uint32_t kMaxHeight = 1000;
constexpr size_t kMaxOpenCalls = 100;

}  // namespace

struct StmtResolver {
  Resolver& resolver;
  Span span;
  std::vector<Stmt>& out;

  Stmt New(StmtKind kind) const {
    Stmt stmt;
    stmt.kind = kind;
    stmt.span = span;
    return stmt;
  }

  void operator()(const ast::OpStmt& s) const {
    if (s.other) return resolver.ResolvePair(s, span, out);
    out.push_back(resolver.ResolveOp(s, span));
  }
  // The name is seen from the next statement on, so not in its own value.
  void operator()(const ast::LetStmt& s) const {
    auto override = resolver.flat_.let_overrides.find(s.name.text);
    const ast::LetStmt* let = &s;
    uint32_t layer = resolver.layer_;
    if (resolver.home_ == nullptr &&
        override != resolver.flat_.let_overrides.end() &&
        override->second.layer < layer) {
      let = override->second.node;
      resolver.layer_ = override->second.layer;
      resolver.lets_applied_.insert(s.name.text);
    }
    Stmt stmt = New(StmtKind::kLet);
    stmt.a = resolver.ResolveNumber(*let->value);
    stmt.slot = resolver.Declare(let->name, "`let`");
    resolver.layer_ = layer;
    out.push_back(stmt);
  }
  void operator()(const ast::PhaseStmt& s) const {
    out.push_back(resolver.ResolvePhase(s, span));
  }
  void operator()(const ast::RepeatStmt& s) const {
    Stmt stmt = New(StmtKind::kRepeat);
    stmt.a = resolver.ResolveNumber(*s.count);
    stmt.body = resolver.ResolveBlock(s.body);
    out.push_back(stmt);
  }
  void operator()(const ast::ForStmt& s) const {
    Stmt stmt = New(StmtKind::kFor);
    stmt.a = resolver.ResolveNumber(*s.begin);
    stmt.b = resolver.ResolveNumber(*s.end);
    size_t mark = resolver.scope_.Mark();
    stmt.slot = resolver.Declare(s.name, "loop variable");
    stmt.body = resolver.ResolveBlock(s.body);
    resolver.LeaveScope(mark);
    out.push_back(stmt);
  }
  void operator()(const ast::IfStmt& s) const {
    Stmt stmt = New(StmtKind::kIf);
    stmt.a = resolver.ResolveNumber(*s.condition);
    stmt.body = resolver.ResolveBlock(s.then_body);
    stmt.other = resolver.ResolveBlock(s.else_body);
    out.push_back(stmt);
  }
  void operator()(const ast::MacroCall& s) const {
    auto stmt = resolver.ResolveMacroCall(s, span);
    if (stmt) out.push_back(*stmt);
  }
};

// The statements of a block lie side by side: those of inner blocks are laid
// down first.
BlockRange Resolver::ResolveBlock(const ast::Block& block) {
  if (stmt_depth_ == kMaxHeight) {
    diag_.Emit(Code::kTooDeep, block.empty() ? Span{} : block.front().span,
               fmt::format("statements nest more than {} deep", kMaxHeight));
    return {};
  }
  ++stmt_depth_;
  height_ = std::max(height_, stmt_depth_);
  size_t mark = scope_.Mark();
  std::vector<Stmt> stmts;
  ResolveStmts(block, stmts);
  LeaveScope(mark);
  --stmt_depth_;
  BlockRange range;
  range.begin = static_cast<uint32_t>(program_.stmts.size());
  program_.stmts.insert(program_.stmts.end(), stmts.begin(), stmts.end());
  range.end = static_cast<uint32_t>(program_.stmts.size());
  return range;
}

void Resolver::ResolveStmts(const ast::Block& block, std::vector<Stmt>& out) {
  CheckPhaseNames(block);
  for (const ast::Stmt& stmt : block) {
    std::visit(StmtResolver{*this, stmt.span, out}, stmt.node);
  }
}

void Resolver::CheckPhaseNames(const ast::Block& block) {
  llvm::StringMap<Span> seen;
  for (const ast::Stmt& stmt : block) {
    auto* phase = std::get_if<ast::PhaseStmt>(&stmt.node);
    if (phase == nullptr) continue;
    auto [at, fresh] = seen.try_emplace(phase->name.text, phase->name.span);
    if (fresh) continue;
    diag_
        .Emit(Code::kDuplicateName, phase->name.span,
              fmt::format("phase `{}` is there twice in one block",
                          phase->name.text))
        .Note(at->second, "the first is here");
  }
}

Stmt Resolver::ResolvePhase(const ast::PhaseStmt& phase, Span span) {
  const ast::PhaseStmt* chosen = &phase;
  uint32_t layer = layer_;
  auto override = flat_.phase_overrides.find(phase.name.text);
  if (home_ == nullptr && override != flat_.phase_overrides.end() &&
      override->second.layer < layer) {
    chosen = override->second.node;
    span = override->second.span;
    layer_ = override->second.layer;
    phases_applied_.insert(phase.name.text);
  }
  Stmt stmt;
  stmt.kind = StmtKind::kPhase;
  stmt.span = span;
  stmt.index = PhaseIndex(phase.name.text);
  stmt.body = ResolveBlock(chosen->body);
  layer_ = layer;
  return stmt;
}

uint32_t Resolver::PhaseIndex(const std::string& name) {
  auto [at, fresh] = phase_index_.try_emplace(
      name, static_cast<uint32_t>(program_.phases.size()));
  if (fresh) program_.phases.push_back(name);
  return at->second;
}

Stmt Resolver::ResolveOp(const ast::OpStmt& op, Span span) {
  Stmt stmt;
  stmt.kind = StmtKind::kOp;
  stmt.span = span;
  stmt.op = op.op;
  if (op.chunk) stmt.a = ResolveNumber(*op.chunk);
  if (op.micro_batch) stmt.b = ResolveNumber(*op.micro_batch);
  if (op.slot) stmt.at = ResolveNumber(*op.slot);
  if (op.op == ast::OpLetter::kW && op.micro_batch) program_.explicit_w = true;
  return stmt;
}

// The F comes first, wherever it is written.
void Resolver::ResolvePair(const ast::OpStmt& left, Span span,
                           std::vector<Stmt>& out) {
  Stmt first = ResolveOp(left, left.span);
  Stmt second = ResolveOp(*left.other, left.other->span);
  if (second.op == ast::OpLetter::kF) std::swap(first, second);
  if (first.op != ast::OpLetter::kF || second.op == ast::OpLetter::kF ||
      second.op == ast::OpLetter::kW) {
    diag_
        .Emit(Code::kBadPair, span,
              "at once go one `F` and one `B`, or one `F` and one `I`")
        .Help("others stand one after the other, without `&`");
    return;
  }
  first.paired = true;
  out.push_back(first);
  out.push_back(second);
}

// ---- Macros ---------------------------------------------------------------

std::optional<Resolver::KnownMacro> Resolver::FindMacro(
    const ast::Identifier& name) {
  if (in_schedule_macros_) {
    for (const auto& macro : flat_.macros) {
      if (macro.node->name.text == name.text) {
        return KnownMacro{macro.node, nullptr, macro.layer};
      }
    }
  }
  const LoadedFile* home = home_ != nullptr ? home_ : flat_.layers[layer_].home;
  auto found = home->macros.find(name.text);
  if (found != home->macros.end()) {
    return KnownMacro{found->second.decl, found->second.home, layer_};
  }
  std::vector<std::string_view> known;
  for (const auto& [other, macro] : home->macros) known.push_back(other);
  if (in_schedule_macros_) {
    for (const auto& macro : flat_.macros) {
      known.push_back(macro.node->name.text);
    }
  }
  diag_
      .Emit(Code::kUnknownName, name.span,
            fmt::format("unknown macro `{}`", name.text))
      .Help(diag::DidYouMean(name.text, known));
  return std::nullopt;
}

std::optional<Stmt> Resolver::ResolveMacroCall(const ast::MacroCall& call,
                                               Span span) {
  std::vector<ExprId> args;
  for (const ast::ExprPtr& arg : call.args) args.push_back(ResolveNumber(*arg));
  auto macro = FindMacro(call.callee);
  if (!macro) return std::nullopt;
  if (macro->home != nullptr) {
    used_macros_.insert(macro->decl);
  } else {
    schedule_macros_used_.insert(macro->decl);
  }
  auto index = ResolveMacro(*macro, span);
  if (!index) return std::nullopt;
  size_t wanted = macro->decl->params.size();
  if (args.size() != wanted) {
    diag_
        .Emit(Code::kWrongArity, span,
              fmt::format("macro `{}` takes {} argument{}, {} given",
                          call.callee.text, wanted, wanted == 1 ? "" : "s",
                          args.size()))
        .Note(macro->decl->name.span, "it is declared here");
    return std::nullopt;
  }
  Stmt stmt;
  stmt.kind = StmtKind::kCall;
  stmt.span = span;
  stmt.index = *index;
  stmt.first_arg = static_cast<uint32_t>(program_.args.size());
  program_.args.insert(program_.args.end(), args.begin(), args.end());
  return stmt;
}

// The index in program_.macros; resolves the body on the first call. nullopt:
// the macro calls itself, or calls nest too deep (reported).
std::optional<uint32_t> Resolver::ResolveMacro(const KnownMacro& macro,
                                               Span call) {
  auto [at, fresh] = macros_.try_emplace(macro.decl);
  if (fresh) {
    if (open_calls_.size() == kMaxOpenCalls) {
      macros_.erase(macro.decl);
      diag_.Emit(Code::kTooDeep, call,
                 fmt::format("macros call each other more than {} deep",
                             kMaxOpenCalls));
      return std::nullopt;
    }
    ResolveMacroBody(macro, call);
    at = macros_.find(macro.decl);
  } else if (at->second.in_progress) {
    ReportRecursion(macro, call);
    return std::nullopt;
  }
  height_ = std::max(height_, stmt_depth_ + at->second.height);
  if (height_ > kMaxHeight) {
    diag_.Emit(Code::kTooDeep, call,
               fmt::format("statements nest more than {} deep, macros followed",
                           kMaxHeight));
    return std::nullopt;
  }
  return at->second.index;
}

void Resolver::ResolveMacroBody(const KnownMacro& macro, Span call) {
  uint32_t index = static_cast<uint32_t>(program_.macros.size());
  program_.macros.emplace_back();
  macros_[macro.decl] = {index, true, 0};
  open_calls_.push_back({macro.decl, call});
  bool in_file = macro.home != nullptr;
  auto aside = scope_.PutAside(/*hide_outer=*/in_file);
  auto saved =
      std::make_tuple(layer_, home_, in_schedule_macros_, stmt_depth_, height_);
  layer_ = macro.layer;
  home_ = macro.home;
  in_schedule_macros_ = !in_file;
  stmt_depth_ = height_ = 0;

  std::vector<Slot> params;
  for (const ast::Identifier& param : macro.decl->params) {
    params.push_back(Declare(param, "macro parameter"));
  }
  BlockRange body = ResolveBlock(macro.decl->body);
  LeaveScope(0);
  program_.macros[index] = {std::move(params), body};
  macros_[macro.decl] = {index, false, height_};

  std::tie(layer_, home_, in_schedule_macros_, stmt_depth_, height_) = saved;
  scope_.Restore(std::move(aside));
  open_calls_.pop_back();
}

void Resolver::ReportRecursion(const KnownMacro& macro, Span call) {
  size_t first = 0;
  while (open_calls_[first].macro != macro.decl) ++first;
  std::string chain;
  for (size_t i = first; i < open_calls_.size(); ++i) {
    chain += open_calls_[i].macro->name.text + " calls ";
  }
  auto builder =
      diag_.Emit(Code::kMacroRecursion, call,
                 fmt::format("a macro that calls itself never ends: {}{}",
                             chain, macro.decl->name.text));
  builder.Note(macro.decl->name.span,
               fmt::format("`{}` is declared here", macro.decl->name.text));
  for (size_t i = first + 1; i < open_calls_.size(); ++i) {
    builder.Note(
        open_calls_[i].call,
        fmt::format("`{}` is called here", open_calls_[i].macro->name.text));
  }
}

void Resolver::CheckMacro(const VisibleMacro& macro) {
  scope_.EnterInner();
  ResolveMacro({macro.decl, macro.home, 0}, macro.decl->name.span);
}

}  // namespace pp::sema
