// Takes the events of T in order and hands each to the ranks it concerns.
//
// Exact exchanges are marked, so that both directions start as one group:
// a->b and b->a that are neighbours in T on both ranks, with no computation
// between. Both ends then reach the group together, and neither transfer waits
// longer than alone. Mere neighbours are left alone: grouping them makes a
// transfer wait for a partner it has nothing to do with.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/transfers.h"

namespace pp::lower {

class PlanBuilder {
 public:
  PlanBuilder(const ir::Schedule& schedule, const Transfers& transfers);

  void Compute(uint32_t rank) {
    plan_[rank].Compute();
    last_[rank].transfer = 0;
  }
  // Of the tensor that `producer` on channel.src computes and `consumer` on
  // channel.dst reads.
  void Transfer(const Channel& channel, uint32_t producer, uint32_t consumer);
  void Sent(uint32_t rank, uint32_t producer) {
    plan_[rank].Transfer(StepKind::kSent, producer, GroupMark::kNone);
  }

  Plan Take() && { return std::move(plan_); }

 private:
  // The last transfer of a rank since its last computation.
  struct Last {
    uint64_t transfer = 0;  // its number in T, from 1; 0: none
    size_t at = 0;          // in the plan of the rank
    Rank src;
    bool grouped = false;
  };

  Plan plan_;
  std::vector<Last> last_;
  uint64_t transfers_ = 0;
};

}  // namespace pp::lower
