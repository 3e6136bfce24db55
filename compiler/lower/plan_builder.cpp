#include "compiler/lower/plan_builder.h"

namespace pp::lower {
namespace {

struct Counts {
  size_t sends = 0;
  size_t receives = 0;
};

// A checked schedule runs each stage forwards and backwards once for each
// micro-batch.
Counts CountTransfers(const ir::Schedule& schedule, const Transfers& transfers,
                      uint32_t rank) {
  Counts counts;
  for (const uint32_t stage : schedule.placement.stage[rank]) {
    for (const ir::OpKind kind : {ir::OpKind::kF, ir::OpKind::kB}) {
      if (Travels(transfers.Output(kind, StageId{stage}))) ++counts.sends;
      if (Travels(transfers.Input(kind, StageId{stage}))) ++counts.receives;
    }
  }
  counts.sends *= schedule.micro_batches;
  counts.receives *= schedule.micro_batches;
  return counts;
}

}  // namespace

PlanBuilder::PlanBuilder(const ir::Schedule& schedule,
                         const Transfers& transfers)
    : plan_(schedule.ranks), last_(schedule.ranks) {
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const Counts counts = CountTransfers(schedule, transfers, r);
    plan_[r].Reserve(schedule.programs[r].size(), counts.sends,
                     counts.receives);
  }
}

void PlanBuilder::Transfer(const Channel& channel, uint32_t producer,
                           uint32_t consumer) {
  RankPlan& from = plan_[channel.src.value];
  RankPlan& to = plan_[channel.dst.value];
  Last& src = last_[channel.src.value];
  Last& dst = last_[channel.dst.value];
  // The same transfer was last on both ranks: it is one between them.
  const bool exchange = src.transfer != 0 && src.transfer == dst.transfer &&
                        !src.grouped && src.src == channel.dst;
  if (exchange) {
    from.Mark(src.at, GroupMark::kFirst);
    to.Mark(dst.at, GroupMark::kFirst);
  }
  const GroupMark mark = exchange ? GroupMark::kLast : GroupMark::kNone;
  ++transfers_;
  src = {transfers_, from.Transfer(StepKind::kSend, producer, mark),
         channel.src, exchange};
  dst = {transfers_, to.Transfer(StepKind::kRecv, consumer, mark), channel.src,
         exchange};
}

}  // namespace pp::lower
