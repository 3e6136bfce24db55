#include "compiler/analysis/event_graph.h"

#include <array>

namespace pp::analysis {

const EdgeClassInfo& Info(EdgeClass edge_class) {
  static constexpr std::array<EdgeClassInfo, kEdgeClasses> kInfo = {{
#define PP_EDGE(Name, name, hops, why) {name, hops, why},
#include "compiler/analysis/edge_classes.def"
  }};
  return kInfo[static_cast<size_t>(edge_class)];
}

EventGraph EventGraphBuilder::Build() && {
  EventGraph graph;
  graph.first_.assign(nodes_ + size_t{1}, 0);
  for (const Pending& p : pending_) ++graph.first_[p.from + size_t{1}];
  for (size_t n = 0; n < nodes_; ++n) graph.first_[n + 1] += graph.first_[n];
  graph.edges_.resize(pending_.size());
  std::vector<size_t> next(graph.first_.begin(), graph.first_.end() - 1);
  for (const Pending& p : pending_) graph.edges_[next[p.from]++] = p.edge;
  return graph;
}

std::vector<Node> KahnOrder(const EventGraph& graph, EdgeMask mask) {
  std::vector<uint32_t> waits(graph.size(), 0);
  for (Node n = 0; n < graph.size(); ++n) {
    for (const Edge& e : graph.Out(n)) {
      if (mask & MaskOf(e.edge_class)) ++waits[e.to];
    }
  }
  std::vector<Node> order;
  order.reserve(graph.size());
  for (Node n = 0; n < graph.size(); ++n) {
    if (waits[n] == 0) order.push_back(n);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Edge& e : graph.Out(order[i])) {
      if ((mask & MaskOf(e.edge_class)) && --waits[e.to] == 0) {
        order.push_back(e.to);
      }
    }
  }
  return order;
}

}  // namespace pp::analysis
