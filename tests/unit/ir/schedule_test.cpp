#include "compiler/ir/schedule.h"

#include <gtest/gtest.h>

#include "compiler/ir/ir_printer.h"

namespace pp::ir {
namespace {

Schedule TwoRanks(std::vector<std::vector<uint32_t>> stages) {
  Schedule schedule;
  schedule.ranks = 2;
  schedule.placement.stage = std::move(stages);
  schedule.programs = {{{OpKind::kF, 0, 0}, {OpKind::kB, 0, 0}},
                       {{OpKind::kF, 0, 0}, {OpKind::kI, 0, 0}}};
  return schedule;
}

TEST(Print, LeavesTheChunkOutWhereRanksHoldOne) {
  EXPECT_EQ(Print(TwoRanks({{0}, {1}})), "r0: F@0 B@0\nr1: F@0 I@0\n");
}

TEST(Print, ShowsTheChunkWhereAnyRankHoldsSeveral) {
  EXPECT_EQ(Print(TwoRanks({{0, 2}, {1}})),
            "r0: F[0]@0 B[0]@0\nr1: F[0]@0 I[0]@0\n");
}

TEST(Print, ShowsAnIdleRank) {
  Schedule schedule = TwoRanks({{0}, {1}});
  schedule.programs[0].clear();
  EXPECT_EQ(Print(schedule), "r0:\nr1: F@0 I@0\n");
}

TEST(Describe, NamesChunkMicroBatchAndStage) {
  Schedule schedule = TwoRanks({{0, 2}, {1}});
  EXPECT_EQ(Describe(schedule, Rank(0), {OpKind::kF, 1, 3}),
            "F[1]@3 (stage 2)");
  EXPECT_EQ(Describe(schedule, Rank(1), {OpKind::kW, 0, 0}), "W@0 (stage 1)");
}

}  // namespace
}  // namespace pp::ir
