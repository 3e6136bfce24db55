// The five texts of the language's description, as they stand there.
#include <gtest/gtest.h>

#include "compiler/ir/ir_printer.h"
#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;

constexpr char kText[] = R"(
// GPipe (Huang et al., 2019): all forwards, then all backwards.
schedule gpipe(P, M) {
  place linear                              // stage s on rank s
  rank r {
    phase fill  { repeat M { F } }
    phase drain { repeat M { B } }
  }
  expect bubble  == (P-1) * (t(F) + t(B))   // idle time of a rank, no communication cost
  expect live(r) == M                       // peak number of stashed micro-batch activations
}

// 1F1B with a flush (PipeDream-Flush; the default of Megatron-LM).
schedule one_f_one_b(P, M) {
  place linear
  rank r {
    let warmup = min(P-1-r, M)
    phase warmup { repeat warmup   { F } }
    phase steady { repeat M-warmup { F B } }
    phase drain  { repeat warmup   { B } }
  }
  expect bubble  == (P-1) * (t(F) + t(B))  when M >= P
  expect live(r) == min(P-r, M)
}

// Interleaved 1F1B (Narayanan et al., 2021): v model chunks on each rank.
schedule interleaved(P, M, v = 2) {
  require M % P == 0, "interleaving advances in rounds of P micro-batches"
  place loop(v)                             // stage s on rank s % P, as chunk s / P
  walk F by (m / P,  c, m % P)              // the order in which a rank's F cursor meets (chunk c, micro-batch m)
  walk B by (m / P, -c, m % P)
  rank r {
    let warmup = min(2*(P-1-r) + (v-1)*P, M*v)
    phase warmup { repeat warmup     { F } }
    phase steady { repeat M*v-warmup { F B } }
    phase drain  { repeat warmup     { B } }
  }
}

// ZB-H1 (Qi et al., 2023): backward split into input gradient I and weight gradient W.
schedule zb_h1(P, M) {
  require M >= P
  place linear
  rank r {
    phase warmup { repeat P-1-r { F } }
    phase fill   { repeat r     { F I } }
    phase steady { repeat M-P+1 { F I W } }
    phase drain  { repeat P-1-r { I W }  repeat r { W } }
  }
  expect bubble == (P-1) * (t(F) + t(I) - t(W))
}

// A variation: only what differs is written. A named `let` or `phase` of the parent is replaced.
// Eager 1F1B: a deeper warm-up hides communication and costs activations.
schedule eager_1f1b(P, M) extends one_f_one_b {
  let warmup = min(2*(P-1-r), M)
  expect live(r) == min(2*(P-1-r) + 1, M)
}

// The order is that of the slots: 1F1B again.
schedule by_slots(P, M) {
  place linear
  slots r { F at 2*m;  B at 2*(m+P-1-r)+1 }
}

schedule by_block(P, M) {
  place linear
  block r every 3 { F at r;  I at 2*P-r;  W }
}
)";

class Language : public ::testing::Test {
 protected:
  std::string Expanded(const std::string& name, const testing::Values& values) {
    if (!sched_.ok()) return sched_.Said();
    auto expansion =
        expand::Expand(sched_.Get(name), {values}, {}, sched_.diag());
    return expansion.schedule ? ir::Print(*expansion.schedule) : sched_.Said();
  }

  SchedText sched_{std::string(kText)};
};

TEST_F(Language, ChecksWithoutAWord) {
  EXPECT_EQ(sched_.schedules().size(), 7u);
  EXPECT_EQ(sched_.Said(), "");
}

TEST_F(Language, GPipe) {
  EXPECT_EQ(Expanded("gpipe", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\n"
            "r1: F@0 F@1 B@0 B@1\n");
}

// Fewer micro-batches than ranks: the warm-up ends with the micro-batches.
TEST_F(Language, OneFOneBWithFewMicroBatches) {
  EXPECT_EQ(Expanded("one_f_one_b", {{"P", 4}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\n"
            "r1: F@0 F@1 B@0 B@1\n"
            "r2: F@0 F@1 B@0 B@1\n"
            "r3: F@0 B@0 F@1 B@1\n");
}

TEST_F(Language, EagerOneFOneB) {
  EXPECT_EQ(Expanded("eager_1f1b", {{"P", 2}, {"M", 3}}),
            "r0: F@0 F@1 F@2 B@0 B@1 B@2\n"
            "r1: F@0 B@0 F@1 B@1 F@2 B@2\n");
}

TEST_F(Language, InterleavedWithOneRound) {
  EXPECT_EQ(Expanded("interleaved", {{"P", 2}, {"M", 2}, {"v", 4}}),
            "r0: F[0]@0 F[0]@1 F[1]@0 F[1]@1 F[2]@0 F[2]@1 F[3]@0 F[3]@1 "
            "B[3]@0 B[3]@1 B[2]@0 B[2]@1 B[1]@0 B[1]@1 B[0]@0 B[0]@1\n"
            "r1: F[0]@0 F[0]@1 F[1]@0 F[1]@1 F[2]@0 F[2]@1 F[3]@0 B[3]@0 "
            "F[3]@1 B[3]@1 B[2]@0 B[2]@1 B[1]@0 B[1]@1 B[0]@0 B[0]@1\n");
}

TEST_F(Language, SlotsAreAnOrder) {
  for (int64_t p = 1; p <= 5; ++p) {
    for (int64_t m = 1; m <= 7; ++m) {
      EXPECT_EQ(Expanded("by_slots", {{"P", p}, {"M", m}}),
                Expanded("one_f_one_b", {{"P", p}, {"M", m}}));
    }
  }
}

// Laid out on rank 1: F@0 I@0 F@1 W@0 I@1 W@1. Squeezed, W@0 gives way to I@1,
// for which rank 0 waits.
TEST_F(Language, BlockIsFilledAndSqueezed) {
  EXPECT_EQ(Expanded("by_block", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 I@0 W@0 I@1 W@1\n"
            "r1: F@0 I@0 F@1 I@1 W@0 W@1\n");
  EXPECT_EQ(Expanded("by_block", {{"P", 1}, {"M", 2}}),
            "r0: F@0 I@0 F@1 I@1 W@0 W@1\n");
}

TEST_F(Language, ZbH1) {
  EXPECT_EQ(Expanded("zb_h1", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 I@0 W@0 I@1 W@1\n"
            "r1: F@0 I@0 F@1 I@1 W@0 W@1\n");
}

TEST_F(Language, RefusesWithTheMessageAndTheValues) {
  EXPECT_EQ(Expanded("interleaved", {{"P", 4}, {"M", 6}}),
            "28:3: PP2104 interleaving advances in rounds of P micro-batches\n"
            "  note `M % P == 0` does not hold with P = 4, M = 6, v = 2: left "
            "2, right 0\n");
}

}  // namespace
}  // namespace pp
