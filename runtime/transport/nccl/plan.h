// Which communicators a program needs, and which edges each has: the same on
// every rank, so that all create and warm up in one order.
#pragma once

#include <vector>

#include "runtime/bytecode/module.h"

namespace pp::transport::nccl {

struct Edge {
  Rank from;
  Rank to;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

struct CommPlan {
  std::vector<Rank> members;  // ascending; a rank's number in the communicator
  std::vector<Edge> edges;    // ascending; of ranks of the run

  bool Has(Rank rank) const;
};

struct Plan {
  std::vector<CommPlan> lanes;  // by LaneId
  CommPlan sums;                // all pairs of each group of ranks
};

// From the SENDs of all ranks and the groups of the module.
Plan MakePlan(const bytecode::Module& module);
// For a program that is not known: every lane has all pairs of ranks.
Plan FullPlan(uint32_t ranks, uint32_t lanes);

}  // namespace pp::transport::nccl
