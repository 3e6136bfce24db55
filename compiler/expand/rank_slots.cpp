// Programs given as time slots: `slots` and `block` (grammar/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "compiler/expand/rank_expander.h"

namespace pp::expand {

using diag::Code;
using sema::kNone;
using sema::Stmt;

void RankExpander::RunSlots(const sema::RankBlock& block) {
  in_loop_ = true;
  for (mb_ = 0; mb_ < instance_.micro_batches() && !stop_; ++mb_) {
    iteration_ = mb_;
    eval_.Var(block.micro_batch) = mb_;
    Exec(block.body);
  }
  in_loop_ = false;
  if (stop_ || !SortPlaced(/*lengths=*/false)) return;
  for (const Placed& placed : placed_) out_->push_back(placed.op);
}

void RankExpander::RunBlock(const sema::RankBlock& block) {
  mb_ = 0;
  Exec(block.body);
  int64_t period = 0;
  if (stop_ || !Evaluate(block.period, period)) return;
  if (period < 1) {
    return Add(Code::kBadPeriod, program_.exprs[block.period].span,
               fmt::format("a block every {} slots{}", period, OnRank()),
               block.period);
  }
  if (!Repeat(period, block) || !SortPlaced(/*lengths=*/true)) return;
  FillIdle();
}

// An operation of `slots` or `block`.
void RankExpander::Place(const Stmt& stmt) {
  const bool in_block = form_ == ast::RankForm::kBlock;
  const char* form = in_block ? "block" : "slots";
  const std::string letter(ir::kOpNames[static_cast<size_t>(stmt.op)]);
  if (stmt.b != kNone) {
    return Add(Code::kSlotForm, stmt.span,
               fmt::format("`{}` names a micro-batch: in `{}` it is {}", letter,
                           form, in_block ? "the block's" : "m"));
  }
  if (stmt.paired) {
    return Add(Code::kSlotForm, stmt.span,
               fmt::format("`&` in `{}`: a slot holds one operation", form));
  }
  const bool fills = in_block && stmt.op == ast::OpLetter::kW;
  if (stmt.at == kNone && !fills) {
    return Add(Code::kSlotForm, stmt.span,
               fmt::format("`{}` has no time slot{}", letter, OnRank()), kNone,
               fmt::format("in `{}` write `{} at ...`", form, letter));
  }
  int64_t chunk = 0, slot = 0;
  if (stmt.a != kNone && !ChooseChunk(stmt, chunk)) return;
  if (stmt.at == kNone) {
    for (uint32_t c = 0; c < chunks_; ++c) {
      if (stmt.a == kNone || c == chunk) fills_[c] = &stmt;
    }
    return;
  }
  if (stmt.a == kNone && chunks_ > 1) {
    return Report(Taken::kChunkNeeded, stmt, false, {});
  }
  if (!Evaluate(stmt.at, slot)) return;
  if (++ops_ > max_ops_) return TooMany(stmt, "operations");
  placed_.push_back(
      {slot,
       {static_cast<ir::OpKind>(stmt.op), static_cast<uint16_t>(chunk), mb_,
        SiteOf(stmt), iteration_},
       stmt.span});
}

// The pattern of micro-batch 0 for all the others.
bool RankExpander::Repeat(int64_t period, const sema::RankBlock& block) {
  const std::vector<Placed> pattern = placed_;
  for (uint32_t mb = 1; mb < instance_.micro_batches(); ++mb) {
    for (Placed placed : pattern) {
      int64_t later = 0;
      if (__builtin_mul_overflow(period, int64_t{mb}, &later) ||
          __builtin_add_overflow(placed.slot, later, &placed.slot)) {
        Add(Code::kOverflow, block.span,
            fmt::format("the slot of micro-batch {} does not fit 64 bits{}", mb,
                        OnRank()));
        return false;
      }
      if (++ops_ > max_ops_) {
        fatal_ = true;
        Add(Code::kTooManyOps, placed.span,
            fmt::format("the expansion passes the limit of {} operations{}",
                        max_ops_, OnRank()));
        return false;
      }
      placed.op.mb = placed.op.iteration = mb;
      placed_.push_back(placed);
    }
  }
  return true;
}

bool RankExpander::SortPlaced(bool lengths) {
  std::stable_sort(
      placed_.begin(), placed_.end(),
      [](const Placed& a, const Placed& b) { return a.slot < b.slot; });
  for (size_t i = 0; i + 1 < placed_.size(); ++i) {
    const Placed &a = placed_[i], &b = placed_[i + 1];
    const int64_t length = lengths ? ir::SlotsOf(a.op.kind) : 1;
    if (b.slot - a.slot >= length) continue;
    const auto name = [&](const Placed& placed) {
      return ir::Describe(schedule_, Rank(rank_), placed.op);
    };
    Add(Code::kSlotTwice, b.span,
        fmt::format("`{}` and `{}` are both in slot {}{}", name(a), name(b),
                    b.slot, OnRank()),
        kNone,
        lengths ? "in a block, slots have to differ modulo the period too" : "",
        {{a.span, "the other one is here"}});
    return false;
  }
  return true;
}

// Each W of a chunk that is to be filled in stands in the first idle slot after
// its I, older ones first.
void RankExpander::FillIdle() {
  for (uint32_t c = 0; c < chunks_; ++c) {
    const bool follows =
        std::any_of(placed_.begin(), placed_.end(), [c](const Placed& placed) {
          return placed.op.kind == ir::OpKind::kI && placed.op.chunk == c;
        });
    // A `W` for all chunks follows those that have an I.
    if (fills_[c] == nullptr || follows) continue;
    if (fills_[c]->a != kNone || chunks_ == 1) {
      return Report(Taken::kNothingOwed, *fills_[c], fills_[c]->a != kNone,
                    {static_cast<uint16_t>(c), 0});
    }
  }
  std::deque<ir::Op> owed;
  const auto fill = [&] {
    out_->push_back(owed.front());
    owed.pop_front();
  };
  int64_t free = placed_.empty() ? 0 : placed_.front().slot;
  for (const Placed& placed : placed_) {
    for (; free < placed.slot && !owed.empty(); ++free) fill();
    out_->push_back(placed.op);
    free = placed.slot + ir::SlotsOf(placed.op.kind);
    const Stmt* const w = fills_[placed.op.chunk];
    if (placed.op.kind != ir::OpKind::kI || w == nullptr) continue;
    if (++ops_ > max_ops_) return TooMany(*w, "operations");
    owed.push_back({ir::OpKind::kW, placed.op.chunk, placed.op.mb, SiteOf(*w),
                    placed.op.iteration});
  }
  while (!owed.empty()) fill();
}

}  // namespace pp::expand
