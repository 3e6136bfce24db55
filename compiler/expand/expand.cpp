#include "compiler/expand/expand.h"

#include <fmt/format.h>

#include <map>

#include "compiler/expand/fault_log.h"
#include "compiler/expand/instance.h"
#include "compiler/expand/place.h"
#include "compiler/expand/rank_expander.h"
#include "compiler/expand/squeeze.h"
#include "llvm/ADT/STLExtras.h"

namespace pp::expand {
namespace {

using diag::Code;
using sema::kNone;
using sema::RankBlock;

// Which block is the program of each rank.
class RankAssignment {
 public:
  RankAssignment(Instance& instance, diag::Emitter& diag)
      : instance_(instance), diag_(diag), owner_(instance.ranks(), nullptr) {}

  // Empty after errors.
  std::vector<const RankBlock*> Run() {
    for (const RankBlock& block : instance_.program().rank_blocks) {
      if (!Assign(block)) ok_ = false;
    }
    ReportTwice();
    if (ok_) ReportMissing();
    if (!ok_) owner_.clear();
    return std::move(owner_);
  }

 private:
  std::string With() const { return "with " + instance_.PointText(); }

  bool Assign(const RankBlock& block) {
    Evaluator& eval = instance_.eval();
    int64_t ranks = instance_.ranks();
    int64_t begin = 0, last = ranks - 1;
    if (block.begin != kNone) {
      last = begin = eval.Eval(block.begin);
      // An empty range is one with last < begin; INT64_MIN has no last.
      if (block.end != kNone) {
        int64_t end = eval.Eval(block.end);
        last = end <= begin ? begin : end - 1;
        if (end <= begin && !eval.failed()) return true;
      }
    }
    if (eval.failed()) {
      instance_.EmitFault("in this rank block", diag_);
      return false;
    }
    if (begin < 0 || last >= ranks) {
      diag_
          .Emit(Code::kRankRange, block.span,
                fmt::format("rank {} out of range 0..{}",
                            begin < 0 ? begin : last, ranks - 1))
          .Note({}, With());
      return false;
    }
    for (int64_t rank = begin; rank <= last; ++rank) {
      const RankBlock*& owner = owner_[static_cast<size_t>(rank)];
      if (owner == nullptr) {
        owner = &block;
      } else {
        twice_[{owner, &block}].push_back(static_cast<uint32_t>(rank));
      }
    }
    return true;
  }

  void ReportTwice() {
    for (const auto& [blocks, ranks] : twice_) {
      ok_ = false;
      bool one = ranks.size() == 1;
      diag_
          .Emit(Code::kRankTwice, blocks.second->span,
                fmt::format("rank{} {} {} two programs", one ? "" : "s",
                            PrintSet(ranks), one ? "has" : "have"))
          .Note(blocks.first->span, "the first is here")
          .Note({}, With());
    }
  }

  void ReportMissing() {
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < owner_.size(); ++rank) {
      if (owner_[rank] == nullptr) ranks.push_back(rank);
    }
    if (ranks.empty()) return;
    ok_ = false;
    auto builder =
        diag_.Emit(Code::kRankMissing, instance_.program().name_span,
                   fmt::format("no program for rank{} {}",
                               ranks.size() == 1 ? "" : "s", PrintSet(ranks)));
    for (const RankBlock& block : instance_.program().rank_blocks) {
      builder.Note(block.span, "this block does not take it in");
    }
    builder.Note({}, With());
  }

  Instance& instance_;
  diag::Emitter& diag_;
  std::vector<const RankBlock*> owner_;
  // Blocks lie in one vector: pointers compare in source order.
  std::map<std::pair<const RankBlock*, const RankBlock*>, std::vector<uint32_t>>
      twice_;
  bool ok_ = true;
};

ir::Schedule Begin(Instance& instance, ir::Placement placement) {
  ir::Schedule schedule;
  schedule.name = instance.program().name;
  schedule.params = instance.Params();
  schedule.ranks = instance.ranks();
  schedule.micro_batches = instance.micro_batches();
  schedule.placement = std::move(placement);
  schedule.programs.resize(instance.ranks());
  schedule.name_span = instance.program().name_span;
  return schedule;
}

}  // namespace

Expansion Expand(const sema::CheckedSchedule& checked, const Point& point,
                 const Options& options, diag::Emitter& diag) {
  Instance instance(checked);
  Expansion expansion;
  expansion.outcome = instance.Bind(point, diag);
  if (expansion.outcome != Outcome::kExpanded) return expansion;
  expansion.outcome = Outcome::kFailed;
  auto placement = Place(instance, options.max_ops, diag);
  auto owners = RankAssignment(instance, diag).Run();
  if (!placement || owners.empty()) return expansion;

  ir::Schedule schedule = Begin(instance, std::move(*placement));
  FaultLog log;
  RankExpander expander(instance, options.max_ops, schedule, log);
  for (uint32_t rank = 0; rank < schedule.ranks; ++rank) {
    if (!expander.Run(rank, *owners[rank])) break;
  }
  if (!log.empty()) {
    log.EmitTo(diag, instance.PointText());
    return expansion;
  }
  std::vector<bool> movable;
  for (const RankBlock* owner : owners) {
    movable.push_back(owner->form == ast::RankForm::kBlock);
  }
  if (llvm::is_contained(movable, true)) Squeeze(schedule, movable);
  expansion.outcome = Outcome::kExpanded;
  expansion.schedule = std::move(schedule);
  return expansion;
}

}  // namespace pp::expand
