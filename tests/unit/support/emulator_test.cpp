#include "tests/support/emulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/bytecode/verifier.h"
#include "tests/support/field_notation.h"

namespace pp::testing {
namespace {

using ::testing::HasSubstr;

Outcome Play(const std::vector<std::string>& ranks, Notation notation = {}) {
  const bytecode::Module module = FromNotation(ranks, notation);
  const Status status = bytecode::Verify(module);
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? Emulate(module) : Outcome{};
}

TEST(Emulator, OneMicroBatch) {
  const Outcome o = Play({"F0 SF0>1 RB0<1 B0", "RF0<0 F0 B0 SB0>0"});
  EXPECT_TRUE(o.ok()) << o.Text();
}

// Both ends send first: nothing is received.
TEST(Emulator, SendsThatFaceEachOtherAreStuck) {
  const Outcome o = Play({"F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
                          "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1 SB1>0"},
                         {.micro_batches = 2});
  EXPECT_FALSE(o.finished());
  EXPECT_THAT(o.Text(), HasSubstr("send"));
}

TEST(Emulator, AGroupMakesThemAnExchange) {
  const Outcome o = Play({"F0 SF0>1 F1 [ SF1>1 RB0<1 ] B0 RB1<1 B1",
                          "RF0<0 F0 B0 [ SB0>0 RF1<0 ] F1 B1 SB1>0"},
                         {.micro_batches = 2});
  EXPECT_TRUE(o.ok()) << o.Text();
}

// Rank 2's group needs rank 1, which needs rank 0's group, which is all or
// nothing with rank 2's. Only with the rule for whole groups is it stuck.
TEST(Emulator, GroupsAreAllOrNothing) {
  const std::string r0 = "wSF1 SF1>1 RB0<1 B0 RB1<1 B1";
  const std::string r1 =
      "RF0<0 F0 SF0>2 RF1<0 F1 SF1>2 RB0<2 B0 SB0>0 RB1<2 B1 SB1>0";
  const std::string r2 = " F0 RF1<1 F1 B0 SB0>1 B1 SB1>1";
  EXPECT_FALSE(
      Play({"F0 F1 [ SF0>1 SF1>2 ] " + r0, r1, "[ RF0.1<0 RF0<1 ]" + r2},
           {.micro_batches = 2})
          .finished());
  const Outcome o = Play({"F0 F1 SF0>1 SF1>2 " + r0, r1, "RF0.1<0 RF0<1" + r2},
                         {.micro_batches = 2});
  EXPECT_TRUE(o.ok()) << o.Text();
}

TEST(Emulator, WithoutATagTheWrongTensorArrives) {
  const Outcome o = Play({"F0 F1 SF1>1 SF0>1 RB0<1 B0 RB1<1 B1",
                          "RF0<0 RF1<0 F0 F1 B0 SB0>0 B1 SB1>0"},
                         {.micro_batches = 2});
  EXPECT_TRUE(o.finished());
  EXPECT_FALSE(o.wrong.empty());
}

TEST(Emulator, GradientsCountedTwice) {
  const Outcome o = Play({"F0 B0 F0 B0"}, {.chunks = {{0}}});
  EXPECT_TRUE(o.finished());
  EXPECT_THAT(o.Text(), HasSubstr("in the gradient 2 times"));
}

TEST(Emulator, EndOfStepOutOfOrder) {
  EXPECT_THAT(Play({"F0 S0 B0 U0"}).Text(), HasSubstr("after the gradients"));
  EXPECT_THAT(Play({"F0 B0 U0 S0"}).Text(), HasSubstr("before scaling"));
  EXPECT_THAT(Play({"F0 B0 S0 S0 U0"}).Text(), HasSubstr("a second time"));
  EXPECT_THAT(Play({"F0 B0 S0 U0"}).Text(), "");
}

TEST(Emulator, CollectivesInTwoOrders) {
  const std::vector<bytecode::Group> groups = {
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}},
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}}};
  const std::string a = "F0 SF0>1 RB0<1 B0 S0 ", b = "RF0<0 F0 B0 SB0>0 S0 ";
  EXPECT_TRUE(Play({a + "A0 A1 U0", b + "A0 A1 U0"}, {.groups = groups}).ok());
  EXPECT_FALSE(
      Play({a + "A0 A1 U0", b + "A1 A0 U0"}, {.groups = groups}).finished());
  EXPECT_FALSE(
      Play({a + "A0 A1 U0", b + "A0 U0"}, {.groups = groups}).finished());
}

}  // namespace
}  // namespace pp::testing
