#include "compiler/ir/cost_model.h"

#include <gtest/gtest.h>

#include <limits>

namespace pp::ir {
namespace {

std::string Canonical(std::string_view text) {
  auto costs = ParseCosts(text);
  return costs ? Print(*costs) : costs.error().message();
}

TEST(ParseCosts, DefaultsAreUnitForwardAndBothHalves) {
  EXPECT_EQ(Canonical(""), "F=1,B=2,I=1,W=1,comm=0");
}

TEST(ParseCosts, FullBackwardIsTheSumOfItsHalvesUnlessGiven) {
  EXPECT_EQ(Canonical("I=1.5,W=0.25"), "F=1,B=1.75,I=1.5,W=0.25,comm=0");
  EXPECT_EQ(Canonical("B=3,I=1.5"), "F=1,B=3,I=1.5,W=1,comm=0");
}

TEST(ParseCosts, IsExactToSixDigits) {
  auto costs = ParseCosts("F=18.522,comm=0.000001");
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->Of(OpKind::kF), 18'522'000);
  EXPECT_EQ(costs->comm, 1);
}

TEST(ParseCosts, CanonicalTextReadsBackAsItself) {
  std::string text = Canonical(" F = 2.5 , comm=0.125,W=3");
  EXPECT_EQ(text, "F=2.5,B=4,I=1,W=3,comm=0.125");
  EXPECT_EQ(Canonical(text), text);
}

TEST(ParseCosts, TakesTheLargestAndRefusesMore) {
  EXPECT_EQ(Canonical("F=1000000"), "F=1000000,B=2,I=1,W=1,comm=0");
  for (const char* text : {"F=1000000.000001", "F=1000001",
                           "F=99999999999999999999999999999999"}) {
    EXPECT_NE(Canonical(text).find("character 3: a cost is at most 1000000"),
              std::string::npos)
        << Canonical(text);
  }
}

struct Fault {
  const char* text;
  const char* message;
};

class CostFault : public testing::TestWithParam<Fault> {};

TEST_P(CostFault, NamesPlaceAndCause) {
  auto costs = ParseCosts(GetParam().text);
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code(), StatusCode::kUsage);
  EXPECT_EQ(costs.error().message(), "costs `" + std::string(GetParam().text) +
                                         "`, " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, CostFault,
    testing::Values(
        Fault{"F=1,X=2",
              "character 5: `X` has no cost; known are F, B, I, W, comm"},
        Fault{"com=2",
              "character 1: `com` has no cost; known are F, B, I, W, comm, did "
              "you mean `comm`?"},
        Fault{"f=2",
              "character 1: `f` has no cost; known are F, B, I, W, comm, did "
              "you mean `F`?"},
        Fault{"F=1,F=2", "character 5: `F` is given twice"},
        Fault{"F", "character 2: expected `=` after `F`"},
        Fault{"F=", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=x", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=.5", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=1.", "character 5: expected a digit after `.`"},
        Fault{"F=1.0000001",
              "character 11: a cost has at most 6 digits after the point"},
        Fault{"F=1e3", "character 4: expected `,`"},
        Fault{"F=-1", "character 3: a cost cannot be negative"},
        Fault{"F=0",
              "character 3: the cost of `F` is 0, but an operation takes "
              "time"},
        Fault{"comm=-0.1", "character 6: a cost cannot be negative"},
        Fault{"F=1,", "character 5: expected another `NAME=NUMBER` after `,`"},
        Fault{"=1", "character 1: expected one of F, B, I, W, comm"}));

TEST(PrintTicks, IsTheShortestExactDecimal) {
  EXPECT_EQ(PrintTicks(0), "0");
  EXPECT_EQ(PrintTicks(1'500'000), "1.5");
  EXPECT_EQ(PrintTicks(1), "0.000001");
  EXPECT_EQ(PrintTicks(-2'250'000), "-2.25");
  EXPECT_EQ(PrintTicks(std::numeric_limits<Ticks>::min()),
            "-9223372036854.775808");
}

TEST(CheckClockFits, RefusesWhatCouldOverflow) {
  auto costs = ParseCosts("F=1000000");
  ASSERT_TRUE(costs);
  EXPECT_TRUE(CheckClockFits(*costs, 9'000'000).ok());
  EXPECT_FALSE(CheckClockFits(*costs, 10'000'000).ok());
  EXPECT_FALSE(CheckClockFits(*costs, ~uint64_t{0}).ok());
}

}  // namespace
}  // namespace pp::ir
