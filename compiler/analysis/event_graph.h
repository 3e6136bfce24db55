// Events and why one must come before another, in compressed rows.
//
// A node is an event (what it stands for is the builder's business, see
// schedule_graph.h and module_graph.h); an edge u -> v says that v cannot
// happen before u has. Nothing here knows diagnostics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pp::analysis {

enum class EdgeClass : uint8_t {
#define PP_EDGE(Name, ...) k##Name,
#include "compiler/analysis/edge_classes.def"
};
inline constexpr size_t kEdgeClasses = 0
#define PP_EDGE(...) +1
#include "compiler/analysis/edge_classes.def"
    ;

struct EdgeClassInfo {
  std::string_view name;
  uint32_t hops;
  std::string_view why;
};
const EdgeClassInfo& Info(EdgeClass edge_class);

// Which classes an algorithm may follow.
using EdgeMask = uint32_t;
constexpr EdgeMask MaskOf(EdgeClass c) {
  return EdgeMask{1} << static_cast<unsigned>(c);
}
inline constexpr EdgeMask kAllEdges = (EdgeMask{1} << kEdgeClasses) - 1;

using Node = uint32_t;

struct Edge {
  Node to;
  EdgeClass edge_class;
};

class EventGraph {
 public:
  Node size() const { return static_cast<Node>(first_.size() - 1); }
  // In the order in which they were added.
  std::span<const Edge> Out(Node node) const {
    return {edges_.data() + first_[node], edges_.data() + first_[node + 1]};
  }

 private:
  friend class EventGraphBuilder;
  std::vector<size_t> first_ = {0};
  std::vector<Edge> edges_;
};

class EventGraphBuilder {
 public:
  // The first of `count` new nodes, which are numbered one after another.
  Node AddNodes(size_t count) {
    const Node first = nodes_;
    nodes_ += static_cast<Node>(count);
    return first;
  }
  void AddEdge(Node from, Node to, EdgeClass edge_class) {
    pending_.push_back({from, {to, edge_class}});
  }
  EventGraph Build() &&;

 private:
  struct Pending {
    Node from;
    Edge edge;
  };
  Node nodes_ = 0;
  std::vector<Pending> pending_;
};

// Kahn's order over the edges of `mask`: ready nodes first come, first served,
// beginning with the lowest. Shorter than graph.size() iff there is a cycle:
// then it lacks all nodes on or behind one. Linear.
std::vector<Node> KahnOrder(const EventGraph& graph, EdgeMask mask = kAllEdges);

}  // namespace pp::analysis
