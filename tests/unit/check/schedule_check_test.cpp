#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/check/check.h"
#include "compiler/check/sets.h"
#include "tests/support/op_lists.h"

namespace pp::check {
namespace {

using diag::Code;
using ir::OpKind;
using ir::Schedule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Sets, RangesAndJoin) {
  EXPECT_EQ(Ranges({}), "");
  EXPECT_EQ(Ranges({4}), "4");
  EXPECT_EQ(Ranges({3, 4}), "3, 4");
  EXPECT_EQ(Ranges({0, 1, 2, 5, 7, 8, 9}), "0..2, 5, 7..9");
  EXPECT_EQ(Join({{Rank(0), {6, 7}}, {Rank(1), {6, 7}}, {Rank(4), {2}}}, "X"),
            "ranks 0, 1: X m = 6, 7; rank 4: m = 2");
}

void Swap(Schedule& s, uint32_t rank, size_t a, size_t b) {
  std::swap(s.programs[rank][a], s.programs[rank][b]);
}

std::vector<Code> Codes(const diag::Emitter& diag) {
  std::vector<Code> codes;
  for (const auto& d : diag.all()) codes.push_back(d.code);
  return codes;
}

TEST(CheckSchedule, AcceptsWhatIsPublished) {
  diag::Emitter diag;
  for (uint32_t p = 1; p <= 6; ++p) {
    for (uint32_t m = 1; m <= 8; ++m) {
      EXPECT_TRUE(CheckSchedule(testing::GPipe(p, m), diag));
      EXPECT_TRUE(CheckSchedule(testing::OneFOneB(p, m), diag));
      EXPECT_TRUE(CheckSchedule(testing::OneFOneB(p, m, true), diag));
      EXPECT_TRUE(m < p || CheckSchedule(testing::ZbH1(p, m), diag));
      if (m % p != 0) continue;
      for (uint32_t v = 1; v <= 3; ++v) {
        EXPECT_TRUE(CheckSchedule(testing::Interleaved(p, m, v), diag));
      }
    }
  }
  EXPECT_EQ(diag.errors(), 0u);
}

TEST(CheckSchedule, MissingIsOneMessageWithSets) {
  Schedule s = testing::GPipe(4, 8);
  for (auto& program : s.programs) program.resize(program.size() - 2);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kMissing));
  EXPECT_EQ(diag.all()[0].message, "ranks 0..3: `B[0]` missing for m = 6, 7");
  ASSERT_THAT(diag.all()[0].notes, SizeIs(1));
  EXPECT_EQ(diag.all()[0].notes[0].message,
            "the last one that rank 0 runs is `B@5 (stage 0)`");
}

TEST(CheckSchedule, MissingDiffersByRank) {
  Schedule s = testing::GPipe(3, 4);
  s.programs[0].pop_back();
  s.programs[2].resize(6);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(diag.all(), SizeIs(1));
  EXPECT_EQ(diag.all()[0].message,
            "rank 0: `B[0]` missing for m = 3; rank 2: m = 2, 3");
}

TEST(CheckSchedule, MissingHalvesOfASplitBackward) {
  Schedule s = testing::ZbH1(2, 3);
  std::erase_if(s.programs[1],
                [](const ir::Op& op) { return op.kind == OpKind::kW; });
  std::erase_if(s.programs[0], [](const ir::Op& op) {
    return op.kind == OpKind::kI && op.mb == 1;
  });
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(diag.all(), SizeIs(2));
  EXPECT_EQ(diag.all()[0].message, "rank 0: `I[0]` missing for m = 1");
  EXPECT_EQ(diag.all()[1].message, "rank 1: `W[0]` missing for m = 0..2");
}

TEST(CheckSchedule, ManyMicroBatchesAndNoProgramTakeNoMemory) {
  Schedule s = testing::LinearFrame(4, 2'000'000'000);
  testing::Add(s, 1, OpKind::kB, 1'999'999'999);
  testing::Add(s, 1, OpKind::kF, 1'999'999'999);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  EXPECT_THAT(Codes(diag), ElementsAre(Code::kMissing));
}

TEST(CheckSchedule, DoubledShowsBothPlaces) {
  Schedule s = testing::GPipe(2, 3);
  s.sites.clear();
  s.sites.push_back({{1, 10, 11}, "fill"});
  s.sites.push_back({{1, 20, 21}, "more"});
  for (auto& program : s.programs) {
    for (ir::Op& op : program) op.site = 0;
  }
  s.programs[1].push_back({OpKind::kB, 0, 1, 1, 0});
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kDoubled));
  const auto& d = diag.all()[0];
  EXPECT_EQ(d.message, "rank 1: `B[0]` runs more than once for m = 1");
  EXPECT_EQ(d.where.span.begin, 20u);
  ASSERT_THAT(d.notes, SizeIs(1));
  EXPECT_EQ(d.notes[0].where.span.begin, 10u);
}

TEST(CheckSchedule, HalvesBesidesAFullBackward) {
  Schedule s = testing::GPipe(1, 2);
  testing::Add(s, 0, OpKind::kW, 1);
  testing::Add(s, 0, OpKind::kI, 0);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kDoubled, Code::kDoubled));
  EXPECT_EQ(diag.all()[0].message,
            "rank 0: `I[0]` runs besides `B[0]`, which includes it, for m = 0");
}

TEST(CheckSchedule, BackwardBeforeForwardIsNotCalledACycle) {
  Schedule s = testing::GPipe(2, 2);
  Swap(s, 1, 1, 2);  // F0 B0 F1 B1, then
  Swap(s, 1, 0, 1);  // B0 F0 F1 B1
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kBackwardBeforeForward));
  EXPECT_EQ(diag.all()[0].message,
            "rank 1: `B@0 (stage 1)` runs before `F@0 (stage 1)`, whose result "
            "it needs");
  EXPECT_THAT(diag.all()[0].notes, SizeIs(1));
}

TEST(CheckSchedule, ManyOfOneKindAreOneMessage) {
  Schedule s = testing::LinearFrame(2, 3);
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint32_t m = 0; m < 3; ++m) {
      testing::Add(s, r, OpKind::kB, m);
      testing::Add(s, r, OpKind::kF, m);
    }
  }
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(diag.all(), SizeIs(1));
  EXPECT_EQ(diag.all()[0].notes.back().message,
            "ranks 0, 1: the same for m = 0..2");
}

TEST(CheckSchedule, WeightBeforeInput) {
  Schedule s = testing::ZbH1(1, 1);  // F I W
  Swap(s, 0, 1, 2);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  EXPECT_THAT(Codes(diag), ElementsAre(Code::kWeightBeforeInput));
}

// rank 0: F0 B0 F1 B1   rank 1: F0 F1 B0 B1
Schedule TwoRankCircle() {
  Schedule s = testing::GPipe(2, 2);
  Swap(s, 0, 1, 2);
  return s;
}

TEST(CheckSchedule, CycleNamesEveryHop) {
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(TwoRankCircle(), diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kDependencyCycle));
  const auto& d = diag.all()[0];
  EXPECT_EQ(d.message, "ranks 0, 1 wait for each other in a circle, for ever");
  ASSERT_THAT(d.notes, SizeIs(2));
  EXPECT_EQ(d.notes[0].message,
            "rank 0 waits at `B@0 (stage 0)` for `B@0 (stage 1)` of rank 1, "
            "which comes after `F@1 (stage 1)`");
  EXPECT_EQ(d.notes[1].message,
            "rank 1 waits at `F@1 (stage 1)` for `F@1 (stage 0)` of rank 0, "
            "which comes after `B@0 (stage 0)`");
  EXPECT_EQ(d.help,
            "on rank 0, run `F@1 (stage 0)` before `B@0 (stage 0)`: then "
            "nothing hangs");
}

// The mend that the message proposes is one.
TEST(CheckSchedule, ProposedMendRuns) {
  Schedule s = TwoRankCircle();
  Swap(s, 0, 1, 2);
  diag::Emitter diag;
  EXPECT_TRUE(CheckSchedule(s, diag));
}

// Rank 0 of four without a warm-up: its B@0 needs F@2 of rank 1 first.
TEST(CheckSchedule, ProposedWarmUpRuns) {
  Schedule s = testing::OneFOneB(4, 8);
  s.programs[0].clear();
  for (uint32_t m = 0; m < 8; ++m) {
    testing::Add(s, 0, OpKind::kF, m);
    testing::Add(s, 0, OpKind::kB, m);
  }
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  EXPECT_EQ(diag.all()[0].help,
            "rank 0 runs 1 forward before `B@0 (stage 0)`: with 3 nothing "
            "hangs");
  s.programs[0].clear();
  for (uint32_t m = 0; m < 8 + 2; ++m) {
    if (m < 8) testing::Add(s, 0, OpKind::kF, m);
    if (m >= 2) testing::Add(s, 0, OpKind::kB, m - 2);
  }
  diag::Emitter again;
  EXPECT_TRUE(CheckSchedule(s, again));
}

TEST(CheckSchedule, CycleOnOneRank) {
  Schedule s = testing::Frame({{0, 1}}, 1);
  testing::Add(s, 0, OpKind::kF, 0, 1);
  testing::Add(s, 0, OpKind::kF, 0, 0);
  testing::Add(s, 0, OpKind::kB, 0, 1);
  testing::Add(s, 0, OpKind::kB, 0, 0);
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  const auto& d = diag.all()[0];
  EXPECT_EQ(d.message, "rank 0 waits for itself, for ever");
  ASSERT_THAT(d.notes, SizeIs(1));
  EXPECT_EQ(d.notes[0].message,
            "rank 0 waits at `F[1]@0 (stage 1)` for `F[0]@0 (stage 0)`, which "
            "comes after `F[1]@0 (stage 1)`");
  EXPECT_EQ(d.help,
            "on rank 0, run `F[0]@0 (stage 0)` before `F[1]@0 (stage 1)`: then "
            "nothing hangs");
}

TEST(CheckSchedule, ShortCircleIsPreferredToALongOne) {
  Schedule s = testing::GPipe(4, 3);
  Swap(s, 2, 2, 3);  // F0 F1 B0 F2 B1 B2: B0 waits for rank 3, which waits
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kDependencyCycle));
  EXPECT_THAT(diag.all()[0].message, HasSubstr("ranks 2, 3"));
  EXPECT_THAT(diag.all()[0].notes, SizeIs(2));
}

TEST(CheckSchedule, IndependentFaultsInOneRun) {
  Schedule s = testing::GPipe(2, 3);
  s.programs[0].pop_back();  // B2 missing on rank 0
  Swap(s, 1, 2, 3);          // F0 F1 B0 F2: fine
  Swap(s, 1, 3, 5);          // F0 F1 B0 B2 B1 F2
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  EXPECT_THAT(Codes(diag),
              ElementsAre(Code::kMissing, Code::kBackwardBeforeForward));
}

// Rank 0 without a warm-up, while rank 1 wants 14 forwards first.
TEST(CheckSchedule, LargeCircleIsFoundInTime) {
  constexpr uint32_t kMicroBatches = 20000;
  Schedule s = testing::OneFOneB(16, kMicroBatches);
  s.programs[0].clear();
  for (uint32_t m = 0; m < kMicroBatches; ++m) {
    testing::Add(s, 0, OpKind::kF, m);
    testing::Add(s, 0, OpKind::kB, m);
  }
  diag::Emitter diag;
  EXPECT_FALSE(CheckSchedule(s, diag));
  ASSERT_THAT(Codes(diag), ElementsAre(Code::kDependencyCycle));
  EXPECT_THAT(diag.all()[0].message, HasSubstr("ranks 0, 1 wait"));
  EXPECT_THAT(diag.all()[0].notes, SizeIs(2));
}

}  // namespace
}  // namespace pp::check
