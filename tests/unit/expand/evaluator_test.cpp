// Integers: floor division, and every overflow a fault.
#include <gtest/gtest.h>

#include "compiler/expand/instance.h"
#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;

// The value of `expr` over P = 7, M = 2, or what is said about it.
std::string Value(const std::string& expr) {
  SchedText sched("schedule s(P, M) { place linear let x = " + expr +
                  " rank r { repeat x { F } } }");
  if (!sched.ok()) return sched.Said();
  expand::Instance instance(sched.Only());
  auto outcome = instance.Bind({{{"P", 7}, {"M", 2}}}, sched.diag());
  if (outcome != expand::Outcome::kExpanded) {
    return sched.diag().all().back().message;
  }
  const auto& let = sched.Only().program->lets.front();
  return std::to_string(instance.eval().Value(let.slot));
}

TEST(Evaluator, DivisionAndRemainderRoundDown) {
  EXPECT_EQ(Value("P / M"), "3");
  EXPECT_EQ(Value("-P / M"), "-4");
  EXPECT_EQ(Value("P / -M"), "-4");
  EXPECT_EQ(Value("-P / -M"), "3");
  EXPECT_EQ(Value("P % M"), "1");
  EXPECT_EQ(Value("-P % M"), "1");
  EXPECT_EQ(Value("P % -M"), "-1");
  EXPECT_EQ(Value("-P % -M"), "-1");
  EXPECT_EQ(Value("6 % 3"), "0");
}

TEST(Evaluator, OperatorsAndFunctions) {
  EXPECT_EQ(Value("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(Value("min(P, M, 1) + max(P, M)"), "8");
  EXPECT_EQ(Value("abs(M - P)"), "5");
  EXPECT_EQ(Value("P > M ? 10 : 20"), "10");
  EXPECT_EQ(Value("P < M ? 1 / 0 : 20"), "20");
  EXPECT_EQ(Value("(P == 7) + (P != 7) + (P <= 7) + (P >= 8)"), "2");
}

TEST(Evaluator, EveryOverflowIsAFault) {
  EXPECT_EQ(Value("9223372036854775807 + 1"),
            "`9223372036854775807 + 1` does not fit 64 bits");
  EXPECT_EQ(Value("-9223372036854775807 - 2"),
            "`-9223372036854775807 - 2` does not fit 64 bits");
  EXPECT_EQ(Value("4611686018427387904 * M"),
            "`4611686018427387904 * 2` does not fit 64 bits");
  EXPECT_EQ(Value("(-9223372036854775807 - 1) / (M - 3)"),
            "`-9223372036854775808 / -1` does not fit 64 bits");
  EXPECT_EQ(Value("(-9223372036854775807 - 1) % (M - 3)"), "0");
  EXPECT_EQ(Value("abs(-9223372036854775807 - 1)"),
            "`0 - -9223372036854775808` does not fit 64 bits");
  EXPECT_EQ(Value("-(-9223372036854775807 - 1)"),
            "`0 - -9223372036854775808` does not fit 64 bits");
}

TEST(Evaluator, DivisionByZeroIsAFault) {
  EXPECT_EQ(Value("P / (M - 2)"), "`7 / 0` divides by zero");
  EXPECT_EQ(Value("P % (M - 2)"), "`7 % 0` divides by zero");
}

}  // namespace
}  // namespace pp
