// Cycles of an event graph: its strongly connected part, and a short path
// around it for a person to read.
#pragma once

#include <span>
#include <vector>

#include "compiler/analysis/event_graph.h"

namespace pp::analysis {

// For each node the number of its strongly connected component if that holds
// a cycle (two nodes or more, or an edge to itself), else kNoComponent.
// Tarjan 1972, without recursion. Linear.
inline constexpr uint32_t kNoComponent = 0xFFFFFFFF;
std::vector<uint32_t> CyclicComponents(const EventGraph& graph,
                                       EdgeMask mask = kAllEdges);

// `from` must come before the next step's `from`; the last before the first.
struct CycleStep {
  Node from;
  EdgeClass edge_class;
};

// The cycle with fewest hops (edge_classes.def), among equals the one found
// first; empty: the graph has none. Cycles through the nodes of `starts` are
// tried in that order, each in linear time, until `budget` edges have been
// looked at (at least one start is always tried to the end), then the
// remaining nodes likewise: with a large enough budget the result is the
// shortest of all, with any budget it is a cycle and the same every time.
std::vector<CycleStep> ShortestCycle(const EventGraph& graph, EdgeMask mask,
                                     std::span<const Node> starts,
                                     size_t budget = size_t{1} << 24);

}  // namespace pp::analysis
