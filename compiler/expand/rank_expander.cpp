#include "compiler/expand/rank_expander.h"

#include <fmt/format.h>

#include <algorithm>

namespace pp::expand {

using diag::Code;
using sema::kNone;
using sema::Stmt;
using sema::StmtKind;

namespace {

OpGroup GroupOf(ast::OpLetter op) {
  switch (op) {
    case ast::OpLetter::kF:
      return OpGroup::kForward;
    case ast::OpLetter::kB:
    case ast::OpLetter::kI:
      return OpGroup::kBackward;
    case ast::OpLetter::kW:
      return OpGroup::kWeight;
  }
  return OpGroup::kForward;
}

ir::OpKind KindOf(ast::OpLetter op) { return static_cast<ir::OpKind>(op); }

// Statements that make no operation (lets, empty loops) are bounded too.
constexpr uint64_t kStepsPerOp = 4;

}  // namespace

RankExpander::RankExpander(Instance& instance, uint64_t max_ops,
                           ir::Schedule& schedule, FaultLog& log)
    : instance_(instance),
      program_(instance.program()),
      eval_(instance.eval()),
      stmts_(program_.stmts.data()),
      max_ops_(max_ops),
      schedule_(schedule),
      log_(log),
      site_cache_(program_.stmts.size()) {}

bool RankExpander::Run(uint32_t rank, const sema::RankBlock& block) {
  size_t size_before = out_ == nullptr ? 0 : out_->size();
  out_ = &schedule_.programs[rank];
  out_->reserve(size_before);  // ranks are much alike
  rank_ = rank;
  chunks_ = static_cast<uint32_t>(schedule_.placement.stage[rank].size());
  phase_ = kNone;
  iteration_ = 0;
  in_loop_ = stop_ = false;
  if (!PrepareWalks()) return true;
  if (block.slot != kNone) eval_.Var(block.slot) = rank;
  form_ = block.form;
  placed_.clear();
  fills_.assign(chunks_, nullptr);
  switch (form_) {
    case ast::RankForm::kProgram:
      Exec(block.body);
      break;
    case ast::RankForm::kSlots:
      RunSlots(block);
      break;
    case ast::RankForm::kBlock:
      RunBlock(block);
      break;
  }
  return !fatal_;
}

// A walk that does not look at the rank is sorted once.
bool RankExpander::PrepareWalks() {
  std::array<const WalkOrder*, sema::kCursors> walks{};
  for (size_t i = 0; i < sema::kCursors; ++i) {
    if (!program_.walks[i]) continue;
    const sema::Walk& walk = *program_.walks[i];
    walks[i] = &walk_orders_[i];
    if (!walk.uses_rank && walk_chunks_[i] == chunks_) continue;
    walk_chunks_[i] = 0;
    if (!SortWalk(walk, instance_, rank_, chunks_, i == 0 ? "walk F" : "walk B",
                  walk_orders_[i], log_)) {
      return false;
    }
    walk_chunks_[i] = chunks_;
  }
  cursors_.Reset(chunks_, instance_.micro_batches(), walks,
                 program_.explicit_w);
  return true;
}

// ---- Statements -----------------------------------------------------------

void RankExpander::Exec(sema::BlockRange block) {
  for (uint32_t i = block.begin; i < block.end; ++i) {
    if (++steps_ / kStepsPerOp > max_ops_) TooMany(stmts_[i], "steps");
    if (stop_) return;
    const Stmt& stmt = stmts_[i];
    if (stmt.kind == StmtKind::kOp) {
      ExecOp(stmt);
    } else {
      ExecStmt(stmt);
    }
  }
}

void RankExpander::ExecStmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kOp:
      return ExecOp(stmt);
    case StmtKind::kLet: {
      int64_t value = 0;
      if (Evaluate(stmt.a, value)) eval_.Var(stmt.slot) = value;
      return;
    }
    case StmtKind::kPhase:
      return ExecPhase(stmt);
    case StmtKind::kRepeat:
      return ExecRepeat(stmt);
    case StmtKind::kFor:
      return ExecFor(stmt);
    case StmtKind::kIf:
      return ExecIf(stmt);
    case StmtKind::kCall:
      return ExecCall(stmt);
  }
}

void RankExpander::ExecRepeat(const Stmt& stmt) {
  int64_t count = 0;
  if (!Evaluate(stmt.a, count)) return;
  if (count < 0) {
    Add(Code::kNegativeRepeat, program_.exprs[stmt.a].span,
        fmt::format("`repeat` of {} times{}", count, OnRank()), stmt.a,
        "a count is 0 or more: limit it with `max(0, ...)`, or the warm-up "
        "with `min(..., M)`");
    return;
  }
  if (stmt.body.begin == stmt.body.end) return;
  uint32_t outer = iteration_;
  bool was_in_loop = std::exchange(in_loop_, true);
  for (int64_t i = 0; i < count && !stop_; ++i) {
    iteration_ = static_cast<uint32_t>(std::min<int64_t>(i, UINT32_MAX));
    Exec(stmt.body);
  }
  iteration_ = outer;
  in_loop_ = was_in_loop;
}

void RankExpander::ExecFor(const Stmt& stmt) {
  int64_t begin = 0, end = 0;
  if (!Evaluate(stmt.a, begin) || !Evaluate(stmt.b, end)) return;
  if (stmt.body.begin == stmt.body.end) return;
  uint32_t outer = iteration_;
  bool was_in_loop = std::exchange(in_loop_, true);
  uint32_t count = 0;
  for (int64_t i = begin; i < end && !stop_; ++i) {
    iteration_ = count;
    if (count != UINT32_MAX) ++count;
    eval_.Var(stmt.slot) = i;
    Exec(stmt.body);
  }
  iteration_ = outer;
  in_loop_ = was_in_loop;
}

void RankExpander::ExecIf(const Stmt& stmt) {
  int64_t condition = 0;
  if (!Evaluate(stmt.a, condition)) return;
  Exec(condition != 0 ? stmt.body : stmt.other);
}

void RankExpander::ExecPhase(const Stmt& stmt) {
  uint32_t outer = std::exchange(phase_, stmt.index);
  Exec(stmt.body);
  phase_ = outer;
}

// No recursion: a macro's parameters are free when it is called.
void RankExpander::ExecCall(const Stmt& stmt) {
  const sema::Macro& macro = program_.macros[stmt.index];
  for (size_t i = 0; i < macro.params.size(); ++i) {
    int64_t value = 0;
    if (!Evaluate(program_.args[stmt.first_arg + i], value)) return;
    eval_.Var(macro.params[i]) = value;
  }
  Exec(macro.body);
}

bool RankExpander::Evaluate(sema::ExprId expr, int64_t& value) {
  value = eval_.Eval(expr);
  if (!eval_.failed()) return true;
  EvalFault fault = eval_.TakeFault();
  Add(fault.code, fault.span, fault.message + OnRank(), expr);
  return false;
}

// ---- Operations -----------------------------------------------------------

void RankExpander::ExecOp(const Stmt& stmt) {
  if (form_ != ast::RankForm::kProgram) return Place(stmt);
  if (stmt.at != kNone) {
    return Add(
        Code::kSlotForm, stmt.span,
        fmt::format("`at` has no meaning in a `rank` program{}", OnRank()),
        kNone, "write `slots r { ... }` for a program of time slots");
  }
  OpGroup group = GroupOf(stmt.op);
  WalkStep step;
  if (stmt.a == kNone && stmt.b == kNone) {
    Taken taken = cursors_.Next(group, stmt.span, step);
    if (taken != Taken::kOk) return Report(taken, stmt, false, step);
  } else if (!Choose(stmt, group, step)) {
    return;
  }
  if (stmt.op == ast::OpLetter::kI) cursors_.Owe(step);
  Append(stmt, step);
}

bool RankExpander::Choose(const Stmt& stmt, OpGroup group, WalkStep& step) {
  int64_t chunk = 0;
  if (stmt.a != kNone && !ChooseChunk(stmt, chunk)) return false;
  if (stmt.b != kNone) return ChooseExplicit(stmt, group, chunk, step);
  step.chunk = static_cast<uint16_t>(chunk);
  Taken taken = cursors_.NextOf(group, step.chunk, stmt.span, step);
  if (taken == Taken::kOk) return true;
  Report(taken, stmt, true, step);
  return false;
}

bool RankExpander::ChooseChunk(const Stmt& stmt, int64_t& chunk) {
  if (!Evaluate(stmt.a, chunk)) return false;
  if (chunk >= 0 && chunk < chunks_) return true;
  OutOfRange(stmt.a, "chunk", chunk, chunks_);
  return false;
}

bool RankExpander::ChooseExplicit(const Stmt& stmt, OpGroup group,
                                  int64_t chunk, WalkStep& step) {
  int64_t mb = 0;
  if (!Evaluate(stmt.b, mb)) return false;
  if (mb < 0 || mb >= instance_.micro_batches()) {
    OutOfRange(stmt.b, "micro-batch", mb, instance_.micro_batches());
    return false;
  }
  step = {static_cast<uint16_t>(chunk), static_cast<uint32_t>(mb)};
  Taken taken = stmt.a == kNone && chunks_ > 1
                    ? Taken::kChunkNeeded
                    : cursors_.Explicit(group, step, stmt.span);
  if (taken == Taken::kOk) return true;
  Report(taken, stmt, stmt.a != kNone, step);
  return false;
}

void RankExpander::Append(const Stmt& stmt, WalkStep step) {
  if (++ops_ > max_ops_) return TooMany(stmt, "operations");
  out_->push_back(
      {KindOf(stmt.op), step.chunk, step.mb, SiteOf(stmt), iteration_});
  if (stmt.paired) MarkPair();
}

// The operation just written is run together with the next one.
void RankExpander::MarkPair() {
  schedule_.paired.resize(schedule_.ranks);
  schedule_.paired[rank_].resize(out_->size());
  schedule_.paired[rank_].back() = true;
}

uint32_t RankExpander::SiteOf(const Stmt& stmt) {
  size_t index = static_cast<size_t>(&stmt - stmts_);
  SiteCache& cache = site_cache_[index];
  if (cache.phase == phase_) return cache.site;
  uint32_t fresh = static_cast<uint32_t>(schedule_.sites.size());
  auto [at, added] =
      sites_.try_emplace({static_cast<uint32_t>(index), phase_}, fresh);
  if (added) {
    schedule_.sites.push_back(
        {stmt.span, phase_ == kNone ? "" : program_.phases[phase_]});
  }
  cache = {phase_, at->second};
  return cache.site;
}

}  // namespace pp::expand
