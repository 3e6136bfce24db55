// The event graph of a schedule's compute operations: `prog` edges along each
// rank, `data` edges between stages. Transfers need no node here: whatever
// carries them, a consumer waits for its producer. An overlapped pair begins
// with its first operation and ends with its second.
#pragma once

#include <vector>

#include "compiler/analysis/event_graph.h"
#include "compiler/ir/schedule.h"

namespace pp::analysis {

struct OpRef {
  Rank rank;
  size_t position = 0;  // in the rank's program
};

struct ScheduleGraph {
  EventGraph graph;
  std::vector<Node> first;  // by rank: node of its first operation

  Node NodeOf(OpRef op) const {
    return first[op.rank.value] + static_cast<Node>(op.position);
  }
  OpRef OpOf(Node node) const;
};

// `schedule` is complete and has fewer than 2^32 operations.
ScheduleGraph BuildScheduleGraph(const ir::Schedule& schedule);

}  // namespace pp::analysis
