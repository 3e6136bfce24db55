#include "compiler/analysis/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/op_lists.h"

namespace pp::analysis {
namespace {

using ir::CostModel;
using ir::kTicksPerUnit;
using ir::OpKind;
using ir::Schedule;
using ir::Ticks;

struct Row {
  const char* name;
  Schedule schedule;
  Ticks makespan, bubble, stage_bubble;  // in units
  std::vector<uint32_t> peaks;           // in chunks
  uint64_t messages;
};

// reproduction table: P = 4, M = 8, F = B = W = 1 (there B is our I).
TEST(Simulate, PublishedTable) {
  const std::vector<Row> rows = {
      {"gpipe", testing::GPipe(4, 8), 33, 9, 9, {8, 8, 8, 8}, 48},
      {"1f1b", testing::OneFOneB(4, 8), 33, 9, 9, {4, 3, 2, 1}, 48},
      {"eager", testing::OneFOneB(4, 8, true), 33, 9, 9, {7, 5, 3, 1}, 48},
      {"zb-h1", testing::ZbH1(4, 8), 27, 3, 3, {4, 4, 4, 4}, 48},
      {"v=2", testing::Interleaved(4, 8, 2), 57, 9, 9, {11, 9, 7, 5}, 112},
      {"v=4", testing::Interleaved(4, 8, 4), 105, 9, 9, {19, 17, 15, 13}, 240},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const ir::Metrics m = Simulate(row.schedule, CostModel{});
    EXPECT_EQ(m.makespan, row.makespan * kTicksPerUnit);
    EXPECT_EQ(m.bubble, row.bubble * kTicksPerUnit);
    Ticks longest = 0;
    for (const auto& r : m.ranks) {
      longest = std::max(longest, r.last_end - r.first_start);
    }
    EXPECT_EQ(longest - m.ranks[0].busy, row.stage_bubble * kTicksPerUnit);
    EXPECT_NEAR(m.bubble_longest_stage,
                static_cast<double>(row.stage_bubble * kTicksPerUnit) /
                    static_cast<double>(longest),
                1e-12);
    for (size_t r = 0; r < row.peaks.size(); ++r) {
      EXPECT_EQ(m.ranks[r].peak_activations, row.peaks[r]) << "rank " << r;
    }
    EXPECT_EQ(m.messages, row.messages);
  }
}

// (P-1)/(M+P-1) of the whole, (P-1)/M of the work: for every P, M, cost.
TEST(Simulate, GPipeAndOneFOneBClosedForms) {
  for (uint32_t p = 1; p <= 8; ++p) {
    for (uint32_t m = 1; m <= 12; ++m) {
      for (Ticks f = 1; f <= 3; ++f) {
        CostModel costs;
        costs.op[0] = f * kTicksPerUnit;
        for (const bool gpipe : {true, false}) {
          SCOPED_TRACE(::testing::Message() << p << ' ' << m << ' ' << gpipe);
          const Schedule s =
              gpipe ? testing::GPipe(p, m) : testing::OneFOneB(p, m);
          const ir::Metrics x = Simulate(s, costs);
          const Ticks pair = costs.Of(OpKind::kF) + costs.Of(OpKind::kB);
          EXPECT_EQ(x.bubble, (p - 1) * pair);
          EXPECT_EQ(x.makespan, (m + p - 1) * pair);
          EXPECT_NEAR(x.bubble_fraction, (p - 1.0) / (m + p - 1.0), 1e-12);
          EXPECT_NEAR(x.bubble_overhead, (p - 1.0) / m, 1e-12);
          EXPECT_EQ(x.messages, uint64_t{2} * m * (p - 1));
          for (uint32_t r = 0; r < p; ++r) {
            EXPECT_EQ(x.ranks[r].peak_activations,
                      gpipe ? m : std::min(p - r, m));
          }
        }
      }
    }
  }
}

// Qi et al. 2023, table 1: (P-1)(F + I - W).
TEST(Simulate, ZbH1ClosedForm) {
  for (uint32_t p = 1; p <= 6; ++p) {
    for (uint32_t m = p; m <= p + 6; ++m) {
      const ir::Metrics x = Simulate(testing::ZbH1(p, m), CostModel{});
      EXPECT_EQ(x.bubble, (p - 1) * kTicksPerUnit) << p << ' ' << m;
    }
  }
}

// Narayanan et al. 2021, section 2.2: (P-1)/(v M) of the work.
TEST(Simulate, InterleavedClosedForm) {
  for (uint32_t p = 2; p <= 4; ++p) {
    for (uint32_t rounds = 1; rounds <= 3; ++rounds) {
      for (uint32_t v = 1; v <= 4; ++v) {
        const uint32_t m = rounds * p;
        const ir::Metrics x =
            Simulate(testing::Interleaved(p, m, v), CostModel{});
        EXPECT_EQ(x.bubble, (p - 1) * 3 * kTicksPerUnit) << p << m << v;
        EXPECT_NEAR(x.bubble_overhead, (p - 1.0) / (v * m), 1e-12);
        EXPECT_EQ(x.messages, uint64_t{2} * m * (v * p - 1));
      }
    }
  }
}

// Added by a hop of latency c: GPipe 2(P-1)c, 1F1B [2(P-1)M/P + 2(P-2)]c for
// P dividing M: it grows with M.
TEST(Simulate, LatencyOfTransfers) {
  CostModel free, slow;
  slow.comm = kTicksPerUnit / 100;
  for (uint32_t p = 2; p <= 6; ++p) {
    for (uint32_t rounds = 2; rounds <= 4; ++rounds) {
      const uint32_t m = p * rounds;
      const auto added = [&](const Schedule& s) {
        return (Simulate(s, slow).makespan - Simulate(s, free).makespan) /
               slow.comm;
      };
      EXPECT_EQ(added(testing::GPipe(p, m)), 2 * (p - 1));
      EXPECT_EQ(added(testing::OneFOneB(p, m)),
                2 * (p - 1) * rounds + 2 * (p - 2))
          << p << ' ' << m;
    }
  }
}

TEST(Simulate, HandOverOnOneRankIsFree) {
  Schedule s = testing::Frame({{0, 1}}, 1);
  testing::Add(s, 0, OpKind::kF, 0, 0);
  testing::Add(s, 0, OpKind::kF, 0, 1);
  testing::Add(s, 0, OpKind::kB, 0, 1);
  testing::Add(s, 0, OpKind::kB, 0, 0);
  CostModel costs;
  costs.comm = 5 * kTicksPerUnit;
  const ir::Metrics m = Simulate(s, costs);
  EXPECT_EQ(m.makespan, 6 * kTicksPerUnit);
  EXPECT_EQ(m.messages, 0u);
  EXPECT_EQ(m.bubble_fraction, 0);
}

TEST(Simulate, TimelineStartsWhenRankAndInputAreReady) {
  Timeline timeline;
  CostModel costs;
  costs.comm = kTicksPerUnit / 2;
  Simulate(testing::GPipe(2, 1), costs, &timeline);
  const Ticks u = kTicksPerUnit;
  EXPECT_EQ(timeline.start[0], (std::vector<Ticks>{0, 5 * u}));
  EXPECT_EQ(timeline.start[1], (std::vector<Ticks>{3 * u / 2, 5 * u / 2}));
}

TEST(Simulate, HugeCostsDoNotWrap) {
  CostModel costs;
  costs.op.fill(std::numeric_limits<Ticks>::max() / 2);
  const ir::Metrics m = Simulate(testing::GPipe(2, 4), costs);
  EXPECT_EQ(m.makespan, std::numeric_limits<Ticks>::max());
}

TEST(Simulate, RankWithoutWork) {
  Schedule s = testing::Frame({{0}, {}}, 1);
  testing::Add(s, 0, OpKind::kF, 0);
  testing::Add(s, 0, OpKind::kB, 0);
  const ir::Metrics m = Simulate(s, CostModel{});
  EXPECT_EQ(m.makespan, 3 * kTicksPerUnit);
  EXPECT_EQ(m.bubble, 3 * kTicksPerUnit);
  EXPECT_EQ(m.bubble_fraction, 0.5);
}

// Steps without a barrier take the longest stage time (Qi et al. 2024, section
// 5.1): here counted, step after step, against that formula.
TEST(SimulatePeriod, IsTheLongestStageTime) {
  for (const Schedule& s :
       {testing::GPipe(4, 8), testing::OneFOneB(4, 8), testing::ZbH1(4, 8),
        testing::ZbH1(3, 7), testing::Interleaved(4, 8, 2)}) {
    SCOPED_TRACE(s.name);
    const ir::Metrics m = Simulate(s, CostModel{});
    Ticks longest = 0;
    for (const ir::RankMetrics& rank : m.ranks) {
      longest = std::max(longest, rank.last_end - rank.first_start);
    }
    const ir::Period period = SimulatePeriod(s, CostModel{});
    EXPECT_TRUE(period.settled);
    EXPECT_EQ(period.time, longest * static_cast<Ticks>(period.steps));
  }
}

TEST(SimulatePeriod, FollowsTheSlowestCircleAndStandsIdleRanks) {
  Schedule s = testing::Frame({{0}, {}}, 1);
  testing::Add(s, 0, OpKind::kF, 0);
  testing::Add(s, 0, OpKind::kB, 0);
  const ir::Period period = SimulatePeriod(s, CostModel{});
  EXPECT_TRUE(period.settled);
  EXPECT_EQ(period.time, 3 * kTicksPerUnit);
  EXPECT_EQ(period.steps, 1u);
}

TEST(Simulate, StagesAndEdgesWithCostsOfTheirOwn) {
  CostModel costs;
  costs.stage = {costs.op, costs.op};
  costs.stage[1] = {2 * kTicksPerUnit, 5 * kTicksPerUnit, kTicksPerUnit,
                    kTicksPerUnit};
  costs.edge[{1, 0}] = kTicksPerUnit;
  const ir::Metrics m = Simulate(testing::GPipe(2, 1), costs);
  // F 1, F 2, B 5, transfer 1, B 2.
  EXPECT_EQ(m.makespan, 11 * kTicksPerUnit);
  EXPECT_EQ(m.work, 7 * kTicksPerUnit);
  ASSERT_EQ(m.edges.size(), 2u);
  EXPECT_EQ(m.edges[1].from, 1u);
  EXPECT_EQ(m.edges[1].messages, 1u);
}

}  // namespace
}  // namespace pp::analysis
