// The event graph of bytecode: what a machine does with it, as events. Under
// the `strict` tier that machine has one serial communication queue a rank,
// rendezvous, finite slots and groups that start as a whole; weaker tiers have
// fewer edges. The program hangs iff the graph has a cycle.
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
#include <string_view>
#include <vector>

#include "compiler/analysis/comm_match.h"
#include "compiler/analysis/event_graph.h"

namespace pp::analysis {

// What a transport is assumed to do. The strictest tier is the gate for all
// that is emitted: removing an edge never adds a cycle, so what passes it
// passes every weaker one.
enum class Tier : uint8_t {
  kStrict,  // all communication of a rank in one queue
  kLanes,   // each lane is a queue of its own
  kEager,   // one queue, but a SEND completes without its RECV (small messages
            // that the transport buffers); explains, is never a gate
};
std::string_view TierName(Tier tier);  // "strict", "lanes", "eager"

struct Assumptions {
  Tier tier = Tier::kStrict;
  // The first SEND and RECV from one rank to another on a lane block their
  // hosts until both are issued, as NCCL does that connects when first used.
  // (pprun connects all before the first step.)
  bool first_connection = false;

  friend bool operator==(const Assumptions&, const Assumptions&) = default;
};

enum class EventKind : uint8_t {
  kCompute,
  kWait,
  kTransfer,    // `at` is the SEND, `other` the RECV
  kSent,        // the SEND at `at`, apart from its RECV (tier eager)
  kReceived,    // the RECV at `at`, likewise
  kConnect,     // `at` is the first SEND of its channel, `other` the RECV
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
                             const CommMatch& match,
                             const Assumptions& assumptions = {});

}  // namespace pp::analysis
