// The event graph of bytecode under the `strict` tier: what a machine with one
// serial communication queue a rank, rendezvous, finite slots and groups that
// start as a whole does, as events. The program hangs iff the graph has a
// cycle.
//
//   compute, WAIT   block the host of their rank: a chain per rank
//   transfer        SEND and RECV, one event. Ready when both are issued and
//                   at the head of their ranks' queues
//   group           transfers that share a group, directly or through other
//                   groups, start together: each entry's kStart -> kJoin ->
//                   the transfers -> each group's kEnd -> next in the queue
//   collective      one event for all its ranks; in their queues as well, and
//                   it blocks their hosts
//
// Linear in the number of instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/analysis/comm_match.h"
#include "compiler/analysis/event_graph.h"

namespace pp::analysis {

// What a transport is assumed to do. The strictest tier is the gate for all
// that is emitted: removing an edge never adds a cycle, so what passes it
// passes every weaker one. A weaker tier is a row here and fewer edges in
// RankWalk::QueueUp (lanes that progress by themselves) or CommNodes (eager
// sends); the events stay the same.
enum class Tier : uint8_t { kStrict };

enum class EventKind : uint8_t {
  kCompute,
  kWait,
  kTransfer,    // `at` is the SEND, `other` the RECV
  kStart,       // of the queue entry that begins at `at`
  kJoin,        // all entries that can only start together
  kEnd,         // of the group that `at` ends
  kCollective,  // `at` is the REDUCE of the lowest rank
};

struct Event {
  EventKind kind{};
  InstrRef at;
  InstrRef other;
};

struct ModuleGraph {
  EventGraph graph;
  std::vector<Event> events;  // by node
};

// `module` is verified, `match` complete, and the members of each group reduce
// it equally often.
ModuleGraph BuildModuleGraph(const bytecode::Module& module,
                             const CommMatch& match, Tier tier = Tier::kStrict);

}  // namespace pp::analysis
