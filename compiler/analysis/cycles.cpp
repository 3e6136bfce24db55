#include "compiler/analysis/cycles.h"

#include <algorithm>
#include <deque>

namespace pp::analysis {
namespace {

constexpr uint32_t kUnseen = 0xFFFFFFFF;

class Tarjan {
 public:
  Tarjan(const EventGraph& graph, EdgeMask mask)
      : graph_(graph),
        mask_(mask),
        index_(graph.size(), kUnseen),
        low_(graph.size(), 0),
        component_(graph.size(), kNoComponent),
        open_(graph.size(), false) {}

  std::vector<uint32_t> Run() {
    for (Node n = 0; n < graph_.size(); ++n) {
      if (index_[n] == kUnseen) Visit(n);
    }
    return std::move(component_);
  }

 private:
  struct Frame {
    Node node;
    size_t next_edge;
  };

  void Visit(Node root) {
    Enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const auto out = graph_.Out(frame.node);
      if (frame.next_edge == out.size()) {
        Leave();
        continue;
      }
      const Edge edge = out[frame.next_edge++];
      if (!(mask_ & MaskOf(edge.edge_class))) continue;
      Follow(frame.node, edge.to);
    }
  }

  void Follow(Node from, Node to) {
    if (index_[to] == kUnseen) {
      Enter(to);
    } else if (open_[to]) {
      low_[from] = std::min(low_[from], index_[to]);
    }
  }

  void Enter(Node node) {
    index_[node] = low_[node] = counter_++;
    open_[node] = true;
    stack_.push_back(node);
    frames_.push_back({node, 0});
  }

  void Leave() {
    const Node node = frames_.back().node;
    frames_.pop_back();
    if (!frames_.empty()) {
      const Node parent = frames_.back().node;
      low_[parent] = std::min(low_[parent], low_[node]);
    }
    if (low_[node] == index_[node]) Close(node);
  }

  void Close(Node root) {
    const bool cyclic = stack_.back() != root || HasSelfEdge(root);
    const uint32_t number = cyclic ? components_++ : kNoComponent;
    Node node;
    do {
      node = stack_.back();
      stack_.pop_back();
      open_[node] = false;
      component_[node] = number;
    } while (node != root);
  }

  bool HasSelfEdge(Node node) const {
    return std::ranges::any_of(graph_.Out(node), [&](const Edge& e) {
      return e.to == node && (mask_ & MaskOf(e.edge_class));
    });
  }

  const EventGraph& graph_;
  EdgeMask mask_;
  std::vector<uint32_t> index_, low_, component_;
  std::vector<bool> open_;
  std::vector<Node> stack_;
  std::vector<Frame> frames_;
  uint32_t counter_ = 0;
  uint32_t components_ = 0;
};

// Fewest hops from one node back to itself: breadth first with edges of
// length 0 and 1, inside one component.
class Finder {
 public:
  Finder(const EventGraph& graph, EdgeMask mask,
         const std::vector<uint32_t>& component)
      : graph_(graph),
        mask_(mask),
        component_(component),
        distance_(graph.size(), kUnseen),
        parent_(graph.size()) {}

  size_t looked_at() const { return looked_at_; }
  const std::vector<CycleStep>& best() const { return best_; }

  void TryFrom(Node start) {
    if (component_[start] == kNoComponent) return;
    Reset();
    queue_.push_back({start, 0});
    Touch(start, 0, {start, EdgeClass{}});
    while (!queue_.empty()) {
      const auto [node, distance] = queue_.front();
      queue_.pop_front();
      if (distance >= best_hops_) return;
      if (distance != distance_[node]) continue;
      if (Expand(start, node, distance)) return;
    }
  }

 private:
  struct Entry {
    Node node;
    uint32_t distance;
  };

  void Reset() {
    for (const Node n : touched_) distance_[n] = kUnseen;
    touched_.clear();
    queue_.clear();
  }

  void Touch(Node node, uint32_t distance, CycleStep parent) {
    if (distance_[node] == kUnseen) touched_.push_back(node);
    distance_[node] = distance;
    parent_[node] = parent;
  }

  // True: no cycle through `start` can be shorter than the best one now.
  bool Expand(Node start, Node node, uint32_t distance) {
    for (const Edge& e : graph_.Out(node)) {
      ++looked_at_;
      if (!(mask_ & MaskOf(e.edge_class))) continue;
      if (component_[e.to] != component_[start]) continue;
      const uint32_t hops = distance + Info(e.edge_class).hops;
      if (e.to == start) {
        if (hops < best_hops_) Keep(start, {node, e.edge_class}, hops);
        if (hops == distance) return true;
      } else if (hops < distance_[e.to]) {
        Touch(e.to, hops, {node, e.edge_class});
        if (hops == distance) {
          queue_.push_front({e.to, hops});
        } else {
          queue_.push_back({e.to, hops});
        }
      }
    }
    return false;
  }

  void Keep(Node start, CycleStep last, uint32_t hops) {
    best_hops_ = hops;
    best_.clear();
    for (CycleStep step = last;; step = parent_[step.from]) {
      best_.push_back(step);
      if (step.from == start) break;
    }
    std::ranges::reverse(best_);
  }

  const EventGraph& graph_;
  EdgeMask mask_;
  const std::vector<uint32_t>& component_;
  std::vector<uint32_t> distance_;
  std::vector<CycleStep> parent_;
  std::vector<Node> touched_;
  std::deque<Entry> queue_;
  size_t looked_at_ = 0;
  uint32_t best_hops_ = kUnseen;
  std::vector<CycleStep> best_;
};

}  // namespace

std::vector<uint32_t> CyclicComponents(const EventGraph& graph, EdgeMask mask) {
  return Tarjan(graph, mask).Run();
}

std::vector<CycleStep> ShortestCycle(const EventGraph& graph, EdgeMask mask,
                                     std::span<const Node> starts,
                                     size_t budget) {
  const std::vector<uint32_t> component = CyclicComponents(graph, mask);
  Finder finder(graph, mask, component);
  const auto spent = [&] {
    return !finder.best().empty() && finder.looked_at() >= budget;
  };
  for (const Node start : starts) {
    if (spent()) break;
    finder.TryFrom(start);
  }
  for (Node start = 0; start < graph.size(); ++start) {
    if (spent()) break;
    finder.TryFrom(start);
  }
  return finder.best();
}

}  // namespace pp::analysis
