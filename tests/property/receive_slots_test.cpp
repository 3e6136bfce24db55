// The least number of receive slots against a machine that has so many: with
// them every schedule runs, with one fewer anywhere it hangs.
#include "compiler/analysis/receive_slots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/op_lists.h"
#include "tests/support/order_emulator.h"
#include "tests/support/random_programs.h"

namespace pp {
namespace {

using analysis::LeastReceiveSlots;
using analysis::ReceiveSlots;
using testing::Direction;

Direction Of(const ReceiveSlots& slots) {
  return {slots.from.value, slots.to.value, slots.forward};
}

uint32_t Most(const ir::Schedule& schedule) {
  uint32_t most = 0;
  for (const auto& slots : LeastReceiveSlots(schedule)) {
    most = std::max(most, slots.least);
  }
  return most;
}

TEST(LeastReceiveSlots, AreEnoughAndOneFewerIsNot) {
  testing::Random random(5);
  size_t schedules = 0, channels = 0, above_one = 0;
  for (int round = 0; round < 10'000; ++round) {
    const ir::Schedule schedule = testing::RandomSchedule(random);
    const auto least = LeastReceiveSlots(schedule);
    std::map<Direction, uint32_t> slots;
    for (const ReceiveSlots& channel : least) {
      slots[Of(channel)] = channel.least;
    }
    ASSERT_TRUE(testing::RunsWithSlots(schedule, slots)) << "round " << round;
    ++schedules;
    for (const ReceiveSlots& channel : least) {
      auto fewer = slots;
      --fewer[Of(channel)];
      ASSERT_FALSE(testing::RunsWithSlots(schedule, fewer))
          << "round " << round << ": " << channel.from.value << " to "
          << channel.to.value;
      ++channels;
      above_one += channel.least > 1;
    }
  }
  std::printf("%zu schedules, %zu channels, %zu need more than one slot\n",
              schedules, channels, above_one);
  EXPECT_GT(above_one, 1'000u);
}

TEST(LeastReceiveSlots, OfWellKnownSchedules) {
  EXPECT_EQ(Most(testing::GPipe(4, 8)), 1u);
  EXPECT_EQ(Most(testing::OneFOneB(4, 8)), 1u);
  EXPECT_EQ(Most(testing::ZbH1(4, 8)), 1u);
  EXPECT_EQ(Most(testing::Interleaved(4, 8, 2)), 1u);
  EXPECT_EQ(Most(testing::ZbV(4, 8)), 1u);
}

TEST(LeastReceiveSlots, OneRankHasNoChannel) {
  EXPECT_TRUE(LeastReceiveSlots(testing::GPipe(1, 3)).empty());
}

}  // namespace
}  // namespace pp
