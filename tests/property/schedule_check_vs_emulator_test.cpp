// The checks of schedules against ranks that run them
// (tests/support/order_emulator.h), on all orders of small shapes and on many
// random ones, right and wrong. PP_PROPERTY_SCALE=N tries N times as many.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/check/accept_schedule.h"
#include "compiler/check/check.h"
#include "compiler/check/checks.h"
#include "tests/property/agreement.h"
#include "tests/support/op_lists.h"
#include "tests/support/order_emulator.h"
#include "tests/support/random_programs.h"

namespace pp {
namespace {

using ir::OpKind;
using ir::Schedule;
using testing::Random;

// The checks without the walk that saves them: their own verdict.
bool AllChecksPass(const Schedule& schedule) {
  diag::Emitter diag;
  return check::ScheduleCoverage(schedule, diag) &&
         check::ScheduleOrder(schedule, diag) &&
         check::ScheduleCycles(schedule, diag);
}

bool Agree(const Schedule& schedule, Tally& tally) {
  const testing::OrderOutcome truth = testing::EmulateOrder(schedule);
  diag::Emitter diag;
  const bool ok = check::CheckSchedule(schedule, diag);
  const std::set<Code> codes = Codes(diag);
  bool agree = ok == truth.ok() && AllChecksPass(schedule) == truth.ok() &&
               check::AcceptsSchedule(schedule) == truth.ok();
  // Each kind of fault is called by its name.
  if (codes.contains(Code::kDependencyCycle)) {
    agree &= !truth.finished;
  }
  if (truth.finished && !truth.wrong.empty()) {
    agree &= codes.contains(Code::kMissing) || codes.contains(Code::kDoubled);
  }
  ++(truth.ok() ? tally.good : truth.finished ? tally.wrong : tally.stuck);
  if (!agree) {
    ADD_FAILURE() << ir::Describe(schedule, Rank(0), schedule.programs[0][0])
                  << " finished " << truth.finished << "\n"
                  << Texts(diag);
  }
  return agree;
}

using Program = std::vector<ir::Op>;

ir::Op Op(OpKind kind, uint32_t mb, uint16_t chunk = 0) {
  return {kind, chunk, mb, 0, 0};
}

std::vector<Program> Permutations(Program ops) {
  const auto less = [](const ir::Op& a, const ir::Op& b) {
    return std::tuple(a.kind, a.chunk, a.mb) <
           std::tuple(b.kind, b.chunk, b.mb);
  };
  std::ranges::sort(ops, less);
  std::vector<Program> all;
  do {
    all.push_back(ops);
  } while (std::ranges::next_permutation(ops, less).found);
  return all;
}

// Every choice of one program for each rank.
void ForAll(Schedule& schedule,
            const std::vector<std::vector<Program>>& choices,
            const std::function<bool()>& visit, size_t rank = 0) {
  if (rank == choices.size()) {
    visit();
    return;
  }
  for (const Program& program : choices[rank]) {
    if (::testing::Test::HasFailure()) return;
    schedule.programs[rank] = program;
    ForAll(schedule, choices, visit, rank + 1);
  }
}

TEST(ScheduleCheckVsEmulator, AllOrdersOfSmallSchedules) {
  Tally tally;
  const auto f = OpKind::kF, b = OpKind::kB, i = OpKind::kI, w = OpKind::kW;
  const auto fused = Permutations({Op(f, 0), Op(f, 1), Op(b, 0), Op(b, 1)});
  const auto split = Permutations(
      {Op(f, 0), Op(f, 1), Op(i, 0), Op(i, 1), Op(w, 0), Op(w, 1)});
  const auto two_chunks =
      Permutations({Op(f, 0), Op(f, 0, 1), Op(b, 0), Op(b, 0, 1)});
  const auto run = [&](Schedule s, std::vector<std::vector<Program>> choices) {
    ForAll(s, choices, [&] { return Agree(s, tally); });
  };
  run(testing::LinearFrame(2, 2), {fused, fused});
  run(testing::LinearFrame(3, 2), {fused, fused, fused});
  run(testing::LinearFrame(2, 2), {split, fused});
  run(testing::LinearFrame(2, 2), {fused, split});
  run(testing::LoopFrame(2, 1, 2), {two_chunks, two_chunks});
  run(testing::Frame({{0, 3}, {1, 2}}, 1), {two_chunks, two_chunks});
  run(testing::Frame({{3, 1}, {2, 0}}, 1), {two_chunks, two_chunks});
  tally.Show("orders");
  EXPECT_GT(tally.good, 100u);
  EXPECT_GT(tally.stuck, 100u);
}

// All words of up to five letters on one rank: what is missing or doubled.
TEST(ScheduleCheckVsEmulator, AllShortProgramsOfOneRank) {
  Tally tally;
  Schedule s = testing::LinearFrame(1, 2);
  Program letters;
  for (size_t k = 0; k < ir::kOpKinds; ++k) {
    for (uint32_t m = 0; m < 2; ++m) {
      letters.push_back(Op(static_cast<OpKind>(k), m));
    }
  }
  const std::function<void(size_t)> grow = [&](size_t left) {
    if (!s.programs[0].empty() && !Agree(s, tally)) return;
    if (left == 0) return;
    for (const ir::Op& op : letters) {
      s.programs[0].push_back(op);
      grow(left - 1);
      s.programs[0].pop_back();
    }
  };
  grow(5);
  tally.Show("words");
  // F0 F1 B0 B1 in 6 orders; with one of the two split, twice 10 orders.
  EXPECT_EQ(tally.good, 26u);
  EXPECT_GT(tally.wrong, 100u);
}

TEST(ScheduleCheckVsEmulator, RandomSchedules) {
  Tally tally;
  Random random(1);
  for (size_t round = 0; round < 100000 * Scale(); ++round) {
    Schedule s = testing::RandomSchedule(random);
    for (uint32_t n = random() % 4; n > 0; --n) testing::Mutate(s, random);
    if (s.programs[0].empty()) continue;
    ASSERT_TRUE(Agree(s, tally)) << "round " << round;
  }
  tally.Show("random schedules");
  EXPECT_GT(tally.good, tally.all() / 10);
  EXPECT_GT(tally.stuck, tally.all() / 10);
  EXPECT_GT(tally.wrong, tally.all() / 50);
}

// Some of the forwards that a backward follows run at once with it.
void JoinSome(Schedule& s, Random& random) {
  s.paired.assign(s.ranks, {});
  for (size_t r = 0; r < s.ranks; ++r) {
    const Program& program = s.programs[r];
    s.paired[r].resize(program.size());
    for (size_t i = 0; i + 1 < program.size(); ++i) {
      const OpKind next = program[i + 1].kind;
      s.paired[r][i] = program[i].kind == OpKind::kF && random() % 3 > 0 &&
                       (next == OpKind::kB || next == OpKind::kI);
    }
  }
}

TEST(ScheduleCheckVsEmulator, RandomSchedulesWithPairs) {
  Tally tally;
  Random random(2);
  for (size_t round = 0; round < 50000 * Scale(); ++round) {
    Schedule s = testing::RandomSchedule(random);
    for (uint32_t n = random() % 3; n > 0; --n) testing::Mutate(s, random);
    if (s.programs[0].empty()) continue;
    JoinSome(s, random);
    ASSERT_TRUE(Agree(s, tally)) << "round " << round;
  }
  tally.Show("random schedules with pairs");
  EXPECT_GT(tally.good, tally.all() / 20);
  EXPECT_GT(tally.stuck, tally.all() / 10);
}

}  // namespace
}  // namespace pp
