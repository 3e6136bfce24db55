#include "compiler/analysis/cycles.h"

#include <gtest/gtest.h>

#include <random>

namespace pp::analysis {
namespace {

struct Arc {
  Node from, to;
  EdgeClass c = EdgeClass::kData;
};

EventGraph Make(size_t nodes, const std::vector<Arc>& arcs) {
  EventGraphBuilder builder;
  builder.AddNodes(nodes);
  for (const Arc& a : arcs) builder.AddEdge(a.from, a.to, a.c);
  return std::move(builder).Build();
}

std::vector<Node> Nodes(const std::vector<CycleStep>& cycle) {
  std::vector<Node> nodes;
  for (const CycleStep& s : cycle) nodes.push_back(s.from);
  return nodes;
}

TEST(EventGraph, KahnTakesAllOfAnAcyclicGraph) {
  const EventGraph g = Make(4, {{3, 1}, {1, 0}, {3, 2}, {2, 0}});
  EXPECT_EQ(KahnOrder(g), (std::vector<Node>{3, 1, 2, 0}));
}

TEST(EventGraph, KahnLeavesWhatIsOnOrBehindACycle) {
  const EventGraph g = Make(5, {{0, 1}, {1, 2}, {2, 1}, {2, 3}});
  EXPECT_EQ(KahnOrder(g), (std::vector<Node>{0, 4}));
}

TEST(EventGraph, MaskHidesClasses) {
  const EventGraph g = Make(2, {{0, 1}, {1, 0, EdgeClass::kDevice}});
  EXPECT_EQ(KahnOrder(g).size(), 0u);
  EXPECT_EQ(KahnOrder(g, MaskOf(EdgeClass::kData)).size(), 2u);
}

TEST(Cycles, ComponentsHoldOnlyWhatIsOnACycle) {
  const EventGraph g =
      Make(6, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 4}, {4, 3}, {5, 5}});
  const auto c = CyclicComponents(g);
  EXPECT_EQ(c[0], kNoComponent);
  EXPECT_EQ(c[1], c[2]);
  EXPECT_EQ(c[3], c[4]);
  EXPECT_NE(c[1], c[3]);
  EXPECT_NE(c[5], kNoComponent);
}

TEST(Cycles, ShortestOfSeveral) {
  const EventGraph g =
      Make(7, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {4, 5}, {5, 2}, {6, 0}});
  EXPECT_EQ(Nodes(ShortestCycle(g, kAllEdges, {})),
            (std::vector<Node>{2, 4, 5}));
}

TEST(Cycles, OrderOnOneRankAddsNoHop) {
  const auto p = EdgeClass::kProg;
  // Three data edges, or two and a long way along a rank.
  const EventGraph g = Make(7, {{0, 1},
                                {1, 2},
                                {2, 0},
                                {0, 3},
                                {3, 4, p},
                                {4, 5, p},
                                {5, 6, p},
                                {6, 0}});
  EXPECT_EQ(Nodes(ShortestCycle(g, kAllEdges, {})),
            (std::vector<Node>{0, 3, 4, 5, 6}));
}

TEST(Cycles, NoneInAnAcyclicGraph) {
  EXPECT_TRUE(ShortestCycle(Make(3, {{0, 1}, {1, 2}}), kAllEdges, {}).empty());
  EXPECT_TRUE(ShortestCycle(Make(0, {}), kAllEdges, {}).empty());
}

TEST(Cycles, StartsComeFirstWhenTheBudgetIsSmall) {
  const EventGraph g = Make(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  const std::vector<Node> starts = {3};
  EXPECT_EQ(Nodes(ShortestCycle(g, kAllEdges, starts, 1)),
            (std::vector<Node>{3, 2}));
}

// Against Floyd and Warshall on random small graphs.
TEST(Cycles, AgreesWithAllPairs) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const Node n = 1 + random() % 9;
    std::vector<Arc> arcs;
    std::vector<std::vector<uint32_t>> d(n, std::vector<uint32_t>(n, 1000));
    for (Node i = 0; i < n * 2; ++i) {
      const Node a = random() % n, b = random() % n;
      // Order along a rank never turns back by itself.
      const bool along = a < b && random() % 3 == 0;
      arcs.push_back({a, b, along ? EdgeClass::kProg : EdgeClass::kData});
      d[a][b] = std::min(d[a][b], along ? 0u : 1u);
    }
    for (Node k = 0; k < n; ++k) {
      for (Node i = 0; i < n; ++i) {
        for (Node j = 0; j < n; ++j) {
          d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
        }
      }
    }
    uint32_t shortest = 1000;
    for (Node i = 0; i < n; ++i) shortest = std::min(shortest, d[i][i]);
    const EventGraph g = Make(n, arcs);
    const auto cycle = ShortestCycle(g, kAllEdges, {});
    EXPECT_EQ(KahnOrder(g).size() == n, cycle.empty());
    uint32_t hops = cycle.empty() ? 1000 : 0;
    for (const CycleStep& s : cycle) hops += Info(s.edge_class).hops;
    EXPECT_EQ(hops, shortest) << "round " << round;
  }
}

}  // namespace
}  // namespace pp::analysis
