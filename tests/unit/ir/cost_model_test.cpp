#include "compiler/ir/cost_model.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/ir/cost_file.h"
#include "compiler/ir/cost_text.h"
#include "compiler/ir/memory_model.h"

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
              "character 5: `X` has no cost; known are F, B, I, W, comm, "
              "message, pair"},
        Fault{"com=2",
              "character 1: `com` has no cost; known are F, B, I, W, comm, "
              "message, pair, did "
              "you mean `comm`?"},
        Fault{"f=2",
              "character 1: `f` has no cost; known are F, B, I, W, comm, "
              "message, pair, did "
              "you mean `F`?"},
        Fault{"F=1,F=2", "character 5: `F` is given twice"},
        Fault{"F", "character 2: expected `=` after `F`"},
        Fault{"F=", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=x", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=.", "character 3: expected a number such as 1 or 2.5"},
        Fault{"F=1.", "character 5: expected a digit after `.`"},
        Fault{"F=1.0000001",
              "character 11: a cost has at most 6 digits after the point"},
        Fault{"F=1e3",
              "character 4: `e` is no unit of time; known are s, ms, us, ns"},
        Fault{"F=1;B=2", "character 4: expected `,`"},
        Fault{"F=-1", "character 3: a cost cannot be negative"},
        Fault{"F=0",
              "character 3: the cost of `F` is 0, but an operation takes "
              "time"},
        Fault{"comm=-0.1", "character 6: a cost cannot be negative"},
        Fault{"F=1,", "character 5: expected another `NAME=NUMBER` after `,`"},
        Fault{"=1",
              "character 1: expected one of F, B, I, W, comm, message, pair"},
        Fault{"F=1ms",
              "character 6: `B` is missing: in units of time there is no "
              "default (but B = I + W)"},
        Fault{"F=1ms,B=2",
              "character 9: `B` has no unit of time, but `F` has one: give "
              "all costs in units of time, or none"},
        Fault{"F=1.0000001ms",
              "character 11: a cost has at most 6 digits after the point"},
        Fault{"F=0.0001us", "character 3: not a whole number of nanoseconds"},
        Fault{"F.1.2=3", "character 7: `F.1.2`: one number: the stage"},
        Fault{"comm.1=3",
              "character 8: `comm.1`: two numbers: from which rank, to which"},
        Fault{"F.70000=1",
              "character 9: `F.70000`: the largest number is "
              "65535"},
        Fault{"F=1ms,B=2ms,comm=1us+3us/MiB",
              "character 18: a time by size needs the size: `message=4MiB`"},
        Fault{"comm=1+3us/MiB",
              "character 8: time by size is in units of time, as in 0.1ms + "
              "3us/MiB"},
        Fault{"message=4",
              "character 10: a size needs its unit: one of B, "
              "KiB, MiB, GiB, TiB, KB, MB, GB, TB"}));

TEST(ParseCosts, APairTakesBothTimesUnlessLessIsSaid) {
  const auto sum = ParseCosts("F=1,B=2,I=1.5,F.3=4");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->Pair(), 3 * kTicksPerUnit);
  EXPECT_EQ(sum->Pair(3, 0, OpKind::kB), 6 * kTicksPerUnit);
  const auto given = ParseCosts("F=1,B=2,I=1.5,pair=2.5");
  ASSERT_TRUE(given);
  EXPECT_EQ(given->Pair(0, 1, OpKind::kB), 5 * kTicksPerUnit / 2);
  EXPECT_EQ(given->Pair(0, 1, OpKind::kI), 5 * kTicksPerUnit / 2);  // F + I
  EXPECT_EQ(Print(*given), "F=1,B=2,I=1.5,W=1,pair=2.5,comm=0");
  EXPECT_EQ(Print(*ParseCosts(Print(*given))), Print(*given));
}

TEST(ParseCosts, TakesUnitsOfTimeExactly) {
  auto costs = ParseCosts(
      "F=1.0ms B=2100us, comm=0.1ms + 3us/MiB "
      "message=4MiB");
  ASSERT_TRUE(costs) << costs.error().message();
  EXPECT_TRUE(costs->timed);
  EXPECT_EQ(costs->Of(OpKind::kF), 1'000'000);  // nanoseconds
  EXPECT_EQ(costs->Of(OpKind::kB), 2'100'000);
  EXPECT_EQ(costs->comm, 100'000 + 4 * 3'000);
  EXPECT_FALSE(costs->known[static_cast<size_t>(OpKind::kI)]);
  EXPECT_EQ(Print(*costs), "F=1ms,B=2.1ms,comm=0.1ms+0.003ms/MiB,message=4MiB");
  EXPECT_EQ(Canonical(Print(*costs)), Print(*costs));
}

TEST(ParseCosts, SumOfTheHalvesIsTheOneDefaultInUnitsOfTime) {
  EXPECT_EQ(Canonical("F=1ms,I=2ms,W=500us"),
            "F=1ms,B=2.5ms,I=2ms,W=0.5ms,comm=0ms");
}

TEST(ParseCosts, RoundsATransferUpToATick) {
  auto costs = ParseCosts("F=1ms,B=1ms,comm=0+1ns/MiB,message=1B");
  ASSERT_TRUE(costs) << costs.error().message();
  EXPECT_EQ(costs->comm, 1);
}

TEST(ParseCosts, StagesAndEdgesMayDiffer) {
  auto costs = ParseCosts("F=1,F.2=1.5,W.0=3,comm=0.5,comm.0.1=2");
  ASSERT_TRUE(costs) << costs.error().message();
  EXPECT_EQ(costs->Of(1, OpKind::kF), kTicksPerUnit);
  EXPECT_EQ(costs->Of(2, OpKind::kF), 3 * kTicksPerUnit / 2);
  EXPECT_EQ(costs->Of(7, OpKind::kF), kTicksPerUnit);
  EXPECT_EQ(costs->Of(0, OpKind::kB), 4 * kTicksPerUnit);  // I + W of stage 0
  EXPECT_EQ(costs->Transfer(Rank(0), Rank(1)), 2 * kTicksPerUnit);
  EXPECT_EQ(costs->Transfer(Rank(1), Rank(0)), kTicksPerUnit / 2);
  EXPECT_EQ(costs->LargestOp(), 4 * kTicksPerUnit);
  EXPECT_EQ(costs->LargestTransfer(), 2 * kTicksPerUnit);
  const std::string text = Print(*costs);
  EXPECT_EQ(text, "F=1,B=2,I=1,W=1,comm=0.5,B.0=4,W.0=3,F.2=1.5,comm.0.1=2");
  EXPECT_EQ(Canonical(text), text);
}

std::string CanonicalMemory(std::string_view text) {
  auto memory = ParseMemory(text);
  return memory ? Print(*memory) : memory.error().message();
}

TEST(ParseMemory, ReadsBackAsItself) {
  for (const char* text :
       {"act=1GiB,act.after_I=512MiB,weights=2GiB,limit=70GiB",
        "act=1GiB,act.3=2GiB", "act=1GiB,act.after_I=0.5GiB,act.1=3GiB",
        "act=1000B,act.0=2000B,act.after_I.0=1B"}) {
    const std::string canonical = CanonicalMemory(text);
    EXPECT_EQ(CanonicalMemory(canonical), canonical) << text;
  }
  EXPECT_EQ(CanonicalMemory("act=1GB"), "act=1000000000B");
}

TEST(ParseMemory, WhatStaysAfterIIsAllUnlessLessIsSaid) {
  auto memory = ParseMemory("act=4KiB,act.2=8KiB,act.after_I.3=1KiB");
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(memory->Of(0).after_i, 4096);
  EXPECT_EQ(memory->Of(2).after_i, 8192);
  EXPECT_EQ(memory->Of(3).after_i, 1024);
}

TEST(ParseMemory, NamesPlaceAndCause) {
  EXPECT_EQ(CanonicalMemory("act=1GiB,act.after_I=2GiB"),
            "sizes `act=1GiB,act.after_I=2GiB`, character 22: what stays after "
            "I, 2GiB, is more than the activations, 1GiB");
  EXPECT_EQ(CanonicalMemory("act=1ms"),
            "sizes `act=1ms`, character 6: `ms` is no unit of size; known are "
            "B, KiB, MiB, GiB, TiB, KB, MB, GB, TB");
  EXPECT_EQ(CanonicalMemory("wieghts=1B"),
            "sizes `wieghts=1B`, character 1: `wieghts` has no size; known are "
            "act, act.after_I, weights, gradients, optimizer, limit, did you "
            "mean `weights`?");
  EXPECT_EQ(CanonicalMemory("limit.1=1B"),
            "sizes `limit.1=1B`, character 9: `limit.1` takes no number");
  EXPECT_EQ(CanonicalMemory("act=0.3B"),
            "sizes `act=0.3B`, character 5: not a whole number of bytes");
}

std::string FileError(std::string_view json) {
  auto file = ParseCostFile(json, "c.json");
  return file ? "" : file.error().message();
}

TEST(ParseCostFile, ReadsCostsAndSizes) {
  auto file = ParseCostFile(
      R"({"cost": {"F": "1.5ms", "B": "3ms", "F.1": "2ms",
                   "comm": "40us + 3us/MiB", "message": "4MiB"},
          "mem": {"act": "1GiB", "limit": "70GiB"},
          "from": {"machine": ["x", 1, null, {"cost": 2}]}})",
      "c.json");
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE(file->costs && file->memory);
  EXPECT_EQ(Print(*file->costs),
            "F=1.5ms,B=3ms,comm=0.04ms+0.003ms/MiB,F.1=2ms,message=4MiB");
  EXPECT_EQ(Print(*file->memory), "act=1GiB,limit=70GiB");
}

TEST(ParseCostFile, NamesFilePartKeyAndCause) {
  EXPECT_EQ(FileError("[1]"), "c.json: a list cannot stand here");
  EXPECT_EQ(FileError("3"), "c.json: the file is a number");
  EXPECT_EQ(FileError("{}"), "c.json: neither `cost` nor `mem` is given");
  EXPECT_NE(FileError("{\n\"cost\": ").find("c.json: line 2, column"),
            std::string::npos)
      << FileError("{\n\"cost\": ");
  EXPECT_EQ(FileError(R"({"costs": {}})"),
            "c.json: `costs`: is not known; known are `cost`, `mem`, `from`");
  EXPECT_EQ(FileError(R"({"cost": {"F": 1.5}})"),
            "c.json: `cost`, key `F`: is a number; write a text with its unit, "
            "such as \"1.5ms\" or \"4MiB\"");
  EXPECT_EQ(FileError(R"({"cost": {"F": "1", "B": "2"}})"),
            "c.json: `cost`: the costs have no unit of time; write \"1.5ms\"");
  EXPECT_EQ(FileError(R"({"cost": {"F": "1ms"}})"),
            "c.json: `cost`: `B` is missing: in units of time there is no "
            "default (but B = I + W)");
  EXPECT_EQ(FileError(R"({"cost": {"F": "1ms", "B": "-2ms"}})"),
            "c.json: `cost`, key `B`: a cost cannot be negative");
  EXPECT_EQ(FileError(R"({"cost": {"F": "1ms", "F": "2ms"}})"),
            "c.json: `cost`, key `F`: is given twice");
  EXPECT_EQ(FileError(R"({"cost": {"F": "1ms,B=2ms"}})"),
            "c.json: `cost`, key `F`: `1ms,B=2ms` is no quantity");
  EXPECT_EQ(FileError(R"({"mem": {"act": "1GiB", "limit": "x"}})"),
            "c.json: `mem`, key `limit`: expected a number such as 1 or 2.5");
}

TEST(PrintBytes, IsExact) {
  EXPECT_EQ(PrintBytes(0), "0B");
  EXPECT_EQ(PrintBytes(1536), "1.5KiB");
  EXPECT_EQ(PrintBytes(1000), "1000B");
  EXPECT_EQ(PrintBytes(kMiB + 1), "1048577B");
}

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
