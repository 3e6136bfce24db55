// What statements, cursors, walks, ranks and placements come to.
#include "compiler/expand/expand.h"

#include <gtest/gtest.h>

#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;
using testing::Values;

std::string Expanded(const std::string& body, const Values& values) {
  SchedText sched("schedule s(P, M) {" + body + "}");
  return sched.Print(values);
}

TEST(Statements, ForLetIfAndMacro) {
  EXPECT_EQ(Expanded("place linear macro one(m) { F@m B@m }"
                     "rank r { for i in 0..M { let j = M-1-i"
                     "  if j % 2 == 0 { one(j) } else { F@j I@j W@j } } }",
                     {{"P", 1}, {"M", 3}}),
            "r0: F@2 B@2 F@1 I@1 W@1 F@0 B@0\n");
}

TEST(Statements, EmptyRangesAndCountsOfZeroMakeNothing) {
  EXPECT_EQ(
      Expanded("place linear rank r { for i in 3..1 { F } repeat 0 { F } }",
               {{"P", 1}, {"M", 1}}),
      "r0:\n");
}

TEST(Cursors, BAndIShareOneAndWFollowsTheOldestI) {
  EXPECT_EQ(Expanded("place linear rank r { repeat M { F } I B I W W }",
                     {{"P", 1}, {"M", 3}}),
            "r0: F@0 F@1 F@2 I@0 B@1 I@2 W@0 W@2\n");
}

TEST(Cursors, EachChunkHasItsOwn) {
  EXPECT_EQ(
      Expanded("place loop(2) rank r { F[0] F[1] F[0] F[1] I[1] I[0] W[0] W }",
               {{"P", 1}, {"M", 2}}),
      "r0: F[0]@0 F[1]@0 F[0]@1 F[1]@1 I[1]@0 I[0]@0 W[0]@0 W[1]@0\n");
}

TEST(Cursors, APlainOneTakesWhatNamedChunksLeft) {
  EXPECT_EQ(Expanded("place loop(2) walk F by (m, c)"
                     "rank r { F[1] F F F[1] F F }",
                     {{"P", 1}, {"M", 3}}),
            "r0: F[1]@0 F[0]@0 F[0]@1 F[1]@1 F[0]@2 F[1]@2\n");
}

TEST(Cursors, ChunksFollowTheOrderOfTheWalk) {
  EXPECT_EQ(Expanded("place loop(2) walk F by (-m, c) rank r { F[0] F F[1] F }",
                     {{"P", 1}, {"M", 2}}),
            "r0: F[0]@1 F[1]@1 F[1]@0 F[0]@0\n");
}

TEST(Cursors, ExplicitWPaysItsDebt) {
  EXPECT_EQ(Expanded("place loop(2)"
                     "rank r { F[0] F[1] I[0] I[1] W[0]@0 W }",
                     {{"P", 1}, {"M", 1}}),
            "r0: F[0]@0 F[1]@0 I[0]@0 I[1]@0 W[0]@0 W[1]@0\n");
}

TEST(Walks, MayDependOnTheRank) {
  EXPECT_EQ(Expanded("place linear walk F by (r == 0 ? m : -m)"
                     "rank r { repeat M { F } }",
                     {{"P", 2}, {"M", 3}}),
            "r0: F@0 F@1 F@2\nr1: F@2 F@1 F@0\n");
}

TEST(Ranks, BlocksSplitTheProgram) {
  EXPECT_EQ(Expanded("place linear rank 0 { F } rank r in 1..P-1 { F B }"
                     "rank P-1 { B }",
                     {{"P", 4}, {"M", 1}}),
            "r0: F@0\nr1: F@0 B@0\nr2: F@0 B@0\nr3: B@0\n");
}

std::vector<std::vector<uint32_t>> Placed(const std::string& place,
                                          uint32_t ranks) {
  SchedText sched("schedule s(P, M) { place " + place + " rank r { F[0] } }");
  auto expansion = sched.Expand({{"P", ranks}, {"M", 1}});
  EXPECT_TRUE(expansion.schedule) << sched.Said();
  if (!expansion.schedule) return {};
  const ir::Placement& placement = expansion.schedule->placement;
  EXPECT_EQ(placement.home.size(), placement.stages);
  for (uint32_t s = 0; s < placement.stages; ++s) {
    const ir::Home& home = placement.home[s];
    EXPECT_EQ(placement.stage[home.rank.value][home.chunk], s);
  }
  return placement.stage;
}

using Stages = std::vector<std::vector<uint32_t>>;

TEST(Placement, Linear) {
  EXPECT_EQ(Placed("linear", 3), (Stages{{0}, {1}, {2}}));
}
TEST(Placement, Loop) {
  EXPECT_EQ(Placed("loop(P)", 2), (Stages{{0, 2}, {1, 3}}));
}
// A launcher that hands out stages in turn breaks a V schedule: the placement
// is the schedule's own, and its turn is a hand-over on one rank.
TEST(Placement, VeeHoldsStageRAndItsMirror) {
  EXPECT_EQ(Placed("vee", 2), (Stages{{0, 3}, {1, 2}}));
  EXPECT_EQ(Placed("vee", 3), (Stages{{0, 5}, {1, 4}, {2, 3}}));
}
TEST(Placement, WaveGoesDownAndUp) {
  EXPECT_EQ(Placed("wave(1)", 2), (Stages{{0}, {1}}));
  EXPECT_EQ(Placed("wave(2)", 3), Placed("vee", 3));
  EXPECT_EQ(Placed("wave(3)", 2), (Stages{{0, 3, 4}, {1, 2, 5}}));
  EXPECT_EQ(Placed("wave(4)", 2), (Stages{{0, 3, 4, 7}, {1, 2, 5, 6}}));
}
TEST(Placement, Custom) {
  EXPECT_EQ(Placed("custom { stage s in 0..P -> rank P-1-s\n"
                   "         stage P -> rank 0, chunk 1 }",
                   2),
            (Stages{{1, 2}, {0}}));
}

TEST(Sites, RememberPhaseIterationAndLine) {
  SchedText sched(
      "schedule s(P, M) { place linear\n"
      "macro fb() { F B }\n"
      "rank r {\n"
      "  phase a { F }\n"
      "  phase b { repeat M-1 { fb() } }\n"
      "  B } }");
  auto expansion = sched.Expand({{"P", 2}, {"M", 3}});
  ASSERT_TRUE(expansion.schedule) << sched.Said();
  const ir::Schedule& got = *expansion.schedule;
  EXPECT_EQ(got.sites.size(), 4u);        // the same on both ranks
  const ir::Op& op = got.programs[1][3];  // the second F of phase b
  EXPECT_EQ(got.sites[op.site].phase, "b");
  EXPECT_EQ(op.iteration, 1u);
  EXPECT_EQ(sched.sources().Text(got.sites[op.site].span), "F");
  EXPECT_EQ(got.sites[got.programs[1].back().site].phase, "");
}

TEST(Expand, GivesParametersWithPAndMFirst) {
  SchedText sched("schedule s(v = 2, M, P) { place loop(v) rank r { F[0] } }");
  auto expansion = sched.Expand({{"M", 3}, {"P", 2}});
  ASSERT_TRUE(expansion.schedule) << sched.Said();
  EXPECT_EQ(expansion.schedule->params, (Values{{"P", 2}, {"M", 3}, {"v", 2}}));
}

TEST(Expand, IsTheSameEveryTime) {
  const std::string text =
      "schedule s(P, M) { place vee walk F by (c, m) walk B by (-c, m)\n"
      "rank r { repeat 2*M { F } repeat 2*M { I } repeat 2*M { W } } }";
  SchedText a(text), b(text);
  auto x = a.Expand({{"P", 4}, {"M", 5}}), y = b.Expand({{"P", 4}, {"M", 5}});
  ASSERT_TRUE(x.schedule && y.schedule);
  for (size_t rank = 0; rank < 4; ++rank) {
    ASSERT_EQ(x.schedule->programs[rank].size(), 30u);
    for (size_t i = 0; i < 30; ++i) {
      const ir::Op &p = x.schedule->programs[rank][i],
                   &q = y.schedule->programs[rank][i];
      ASSERT_TRUE(p.kind == q.kind && p.chunk == q.chunk && p.mb == q.mb &&
                  p.site == q.site && p.iteration == q.iteration);
    }
  }
}

}  // namespace
}  // namespace pp
