// What RankExpander says when a rank program goes wrong.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/expand/rank_expander.h"

namespace pp::expand {

using diag::Code;
using sema::kNone;
using sema::Stmt;

namespace {

std::string Letter(const Stmt& stmt) {
  return std::string(ir::kOpNames[static_cast<size_t>(stmt.op)]);
}

std::string OpText(const Stmt& stmt, bool chunk_named, WalkStep step) {
  if (!chunk_named) return Letter(stmt);
  return fmt::format("{}[{}]", Letter(stmt), step.chunk);
}

// The variables of an expression, in order of appearance, each once.
void CollectSlots(const sema::Program& program, sema::ExprId id,
                  std::vector<sema::Slot>& slots) {
  if (id == kNone) return;
  const sema::Expr& e = program.exprs[id];
  if (e.kind == sema::ExprKind::kSlot) {
    if (std::find(slots.begin(), slots.end(), e.a) == slots.end()) {
      slots.push_back(e.a);
    }
    return;
  }
  CollectSlots(program, e.a, slots);
  CollectSlots(program, e.b, slots);
  CollectSlots(program, e.c, slots);
}

}  // namespace

std::string RankExpander::OnRank() const {
  return fmt::format(" on rank {}", rank_);
}

// "in phase `steady`, iteration 3, where warmup = 3", or empty. P, M and the
// other parameters are in the note on the point.
std::string RankExpander::Where(sema::ExprId expr) const {
  std::string text;
  if (phase_ != kNone) {
    text = fmt::format("in phase `{}`", program_.phases[phase_]);
  }
  if (in_loop_) {
    text +=
        fmt::format("{}iteration {}", text.empty() ? "in " : ", ", iteration_);
  }
  std::vector<sema::Slot> slots;
  CollectSlots(program_, expr, slots);
  const char* glue = text.empty() ? "where " : ", where ";
  for (sema::Slot slot : slots) {
    if (slot < program_.params.size()) continue;
    text += fmt::format("{}{} = {}", glue, program_.slot_names[slot],
                        eval_.Value(slot));
    glue = ", ";
  }
  return text;
}

void RankExpander::Add(Code code, source::Span span, std::string message,
                       sema::ExprId expr, std::string help,
                       std::vector<diag::Note> notes) {
  // What comes after a fault on this rank may well be its consequence.
  if (code != Code::kOutOfRange) stop_ = true;
  if (log_.Repeats(code, span, rank_)) return;
  std::string where = Where(expr);
  if (!where.empty()) notes.insert(notes.begin(), diag::Note{{}, where});
  log_.Add({code, span, std::move(message), std::move(notes), std::move(help)},
           rank_);
}

void RankExpander::OutOfRange(sema::ExprId expr, const char* what,
                              int64_t value, uint32_t count) {
  Add(Code::kOutOfRange, program_.exprs[expr].span,
      fmt::format("{} {} out of range 0..{}{}", what, value, count - 1,
                  OnRank()),
      expr);
}

void RankExpander::TooMany(const Stmt& stmt, const char* what) {
  fatal_ = true;
  Add(Code::kTooManyOps, stmt.span,
      fmt::format("the expansion passes the limit of {} operations{}", max_ops_,
                  OnRank()),
      kNone, "",
      {{{},
        fmt::format("{} operations and {} steps were made up to here; the "
                    "limit is on {}",
                    std::min(ops_, max_ops_), steps_, what)}});
}

void RankExpander::Report(Taken taken, const Stmt& stmt, bool chunk_named,
                          WalkStep step) {
  std::string op = OpText(stmt, chunk_named, step);
  uint32_t count = instance_.micro_batches();
  switch (taken) {
    case Taken::kOk:
      return;
    case Taken::kPastEnd:
      return Add(
          Code::kPastEnd, stmt.span,
          fmt::format("`{}` runs past the end{}: {} taken", op, OnRank(),
                      chunk_named || chunks_ == 1
                          ? fmt::format("all {} micro-batches are", count)
                          : fmt::format("all {} micro-batches of all {} "
                                        "chunks are",
                                        count, chunks_)));
    case Taken::kNothingOwed:
      return Add(Code::kNothingOwed, stmt.span,
                 fmt::format("`{}` has no `I` to follow{}: each one so far has "
                             "had its `W`",
                             op, OnRank()));
    case Taken::kMixed:
      return Add(Code::kMixedAddressing, stmt.span,
                 fmt::format("`{}` {} for chunk {}{}", Letter(stmt),
                             stmt.b != kNone
                                 ? "names its micro-batch, but elsewhere takes "
                                   "the next one,"
                                 : "takes the next micro-batch, but elsewhere "
                                   "names it,",
                             step.chunk, OnRank()),
                 kNone, "write `@m` everywhere, or nowhere",
                 {{cursors_.OtherSite(), "the other way is used here"}});
    case Taken::kChunkNeeded:
      return Add(
          Code::kChunkNeeded, stmt.span,
          fmt::format("`{}` does not say which of the {} chunks{}",
                      Letter(stmt), chunks_, OnRank()),
          kNone,
          stmt.b != kNone || stmt.op == ast::OpLetter::kW
              ? fmt::format("write `{}[c]`", Letter(stmt))
              : fmt::format("write `{0}[c]`, or say in which order the cursor "
                            "meets them: `walk {0} by (m / P, c, m % P)`",
                            Letter(stmt)));
  }
}

}  // namespace pp::expand
