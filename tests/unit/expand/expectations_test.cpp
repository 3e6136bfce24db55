// `expect` lines against metrics made for them.
#include <gtest/gtest.h>

#include "compiler/expand/expand.h"
#include "compiler/ir/cost_text.h"
#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;

// P = 3, M = 2; bubble 4.5, makespan 10, 7 messages, live 3 2 1; costs F = 1,
// B = 2.5, I = 1.5, W = 1.
struct Outcome {
  size_t evaluated = 0;
  std::string said;
};

Outcome Check(const std::string& expects) {
  SchedText sched("schedule s(P, M) { place linear rank r { F }\n" + expects +
                  "\n}");
  if (!sched.ok()) return {0, sched.Said()};
  auto expansion = sched.Expand({{"P", 3}, {"M", 2}});
  ir::Metrics metrics;
  metrics.bubble = 4'500'000;
  metrics.makespan = 10'000'000;
  metrics.messages = 7;
  metrics.ranks.resize(3);
  for (uint32_t r = 0; r < 3; ++r) metrics.ranks[r].peak_activations = 3 - r;
  auto costs = ir::ParseCosts("I=1.5");
  size_t evaluated = expand::CheckExpectations(
      sched.Only(), {{{"P", 3}, {"M", 2}}}, *expansion.schedule, metrics,
      *costs, sched.diag());
  return {evaluated, sched.Said()};
}

void Holds(const std::string& expects, size_t evaluated) {
  Outcome outcome = Check(expects);
  EXPECT_EQ(outcome.said, "");
  EXPECT_EQ(outcome.evaluated, evaluated);
}

TEST(Expect, TimesAreExact) {
  Holds("expect bubble == t(F) + t(B) + t(W)", 1);
  Holds("expect bubble == 3 * t(I)", 1);
  Holds("expect bubble * 2 == 9 * t(F)", 1);
  Holds("expect t(B) / 5 == t(I) / 3", 1);
  Holds(
      "expect bubble != t(B) expect bubble > t(B) expect t(B) < bubble "
      "expect t(B) <= bubble expect bubble >= t(B) - t(W)",
      5);
}

TEST(Expect, NumbersBesideTimesAreUnits) {
  Holds("expect makespan == 10 expect 10 == makespan", 2);
  Holds("expect max(0, t(F) - t(B)) == 0", 1);
  Holds("expect makespan == (P == 3 ? 10 : t(F))", 1);
}

TEST(Expect, CountsAreNumbers) {
  Holds("expect messages == 7 expect live(0) + live(P-1) == 4", 2);
}

TEST(Expect, OverRIsHeldOnEveryRank) { Holds("expect live(r) == P - r", 1); }

TEST(Expect, WhenGuards) {
  Holds("expect bubble == 0 when M > P", 0);
  Holds("expect live(r) == 1 when r == P-1", 1);
}

TEST(Expect, FailureShowsBothSides) {
  Outcome outcome = Check("expect bubble == (P-1) * (t(F) + t(B))");
  EXPECT_EQ(outcome.evaluated, 1u);
  EXPECT_EQ(outcome.said,
            "2:8: PP5001 `bubble == (P-1) * (t(F) + t(B))` does not hold: left "
            "is 4.5, right is 7\n"
            "  note costs F=1,B=2.5,I=1.5,W=1,comm=0\n"
            "  note with P = 3, M = 2\n");
}

TEST(Expect, FailureOnSeveralRanksIsSaidOnce) {
  EXPECT_EQ(Check("expect live(r) == P").said,
            "2:8: PP5001 `live(r) == P` does not hold on rank 1: left is 2, "
            "right is 3\n"
            "  note costs F=1,B=2.5,I=1.5,W=1,comm=0\n"
            "  note the same on rank 2\n"
            "  note with P = 3, M = 2\n");
}

TEST(Expect, TimesThatDoNotDivide) {
  EXPECT_EQ(Check("expect bubble == makespan / P").said,
            "2:18: PP2119 `10 / 3` is no whole number of millionths of a unit\n"
            "  note 2:8: in this `expect`\n"
            "  note with P = 3, M = 2\n");
}

TEST(Expect, FaultsInsideAreSaid) {
  EXPECT_EQ(Check("expect live(P) == 1").said,
            "2:8: PP2111 rank 3 out of range 0..2\n"
            "  note 2:8: in this `expect`\n"
            "  note with P = 3, M = 2\n");
  EXPECT_EQ(Check("expect bubble == t(F) / (P-3)").said,
            "2:18: PP2106 `1 / 0` divides by zero\n"
            "  note 2:8: in this `expect`\n"
            "  note with P = 3, M = 2\n");
  EXPECT_EQ(Check("expect bubble == 9223372036854775807").said,
            "2:18: PP2105 `9223372036854775807 * 1000000` does not fit 64 "
            "bits\n"
            "  note 2:8: in this `expect`\n"
            "  note with P = 3, M = 2\n");
}

}  // namespace
}  // namespace pp
