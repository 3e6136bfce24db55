#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/check/check.h"
#include "runtime/bytecode/verifier.h"
#include "tests/support/field_notation.h"

namespace pp::check {
namespace {

using bytecode::Module;
using bytecode::Opcode;
using diag::Code;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FromNotation;
using ::testing::HasSubstr;
using testing::Notation;
using ::testing::SizeIs;

// What is said of a program that the loader accepts.
std::vector<diag::Diagnostic> Check(const Module& module) {
  const Status status = bytecode::Verify(module);
  EXPECT_TRUE(status.ok()) << status.message();
  diag::Emitter diag;
  if (!status.ok()) return {};
  const bool ok = CheckModule(module, diag);
  EXPECT_EQ(ok, diag.all().empty());
  return diag.all();
}
std::vector<diag::Diagnostic> Check(const std::vector<std::string>& ranks,
                                    Notation notation = {}) {
  return Check(FromNotation(ranks, notation));
}

std::vector<Code> Codes(const std::vector<diag::Diagnostic>& all) {
  std::vector<Code> codes;
  for (const auto& d : all) codes.push_back(d.code);
  return codes;
}

std::string Text(const diag::Diagnostic& d) {
  std::string text = d.message + "\n";
  for (const auto& n : d.notes) text += n.message + "\n";
  return text;
}

const Notation kTwo = {.micro_batches = 2};
const Notation kThree = {.micro_batches = 3};

// ---- Deadlock ----

TEST(CheckModule, AcceptsOneMicroBatch) {
  EXPECT_THAT(Check({"F0 SF0>1 RB0<1 B0", "RF0<0 F0 B0 SB0>0"}), SizeIs(0));
}

// Reported as NVIDIA/nccl 479.
TEST(CheckModule, BothSendFirst) {
  const auto all = Check({"F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
                          "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1 SB1>0"},
                         kTwo);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCommunicationDeadlock));
  EXPECT_EQ(
      Text(all[0]),
      "ranks 0, 1 wait for each other for ever: communication (tier strict)\n"
      "rank 0 waits at `SEND act s0 m1` to rank 1 (pc 3); `RECV grad s1 m0` "
      "from rank 1 (pc 4) comes after it: the device runs one communication "
      "at a time, in issue order [device]\n"
      "rank 1 waits at `SEND grad s1 m0` to rank 0 (pc 5); `RECV act s0 m1` "
      "from rank 0 (pc 6) comes after it: the device runs one communication "
      "at a time, in issue order [device]\n");
  EXPECT_THAT(all[0].help, HasSubstr("one group"));
}

TEST(CheckModule, AGroupMakesThemAnExchange) {
  EXPECT_THAT(Check({"F0 SF0>1 F1 [ SF1>1 RB0<1 ] B0 RB1<1 B1",
                     "RF0<0 F0 B0 [ SB0>0 RF1<0 ] F1 B1 SB1>0"},
                    kTwo),
              SizeIs(0));
}

// On one lane it is the communicator's own order that is at fault.
TEST(CheckModule, LaneIsNamedWhereItAloneIsAtFault) {
  Notation one_lane = kTwo;
  one_lane.lane = 0;
  const auto all = Check({"F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
                          "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1 SB1>0"},
                         one_lane);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCommunicationDeadlock));
  EXPECT_THAT(Text(all[0]), HasSubstr("[lane]"));
}

// Reported as pytorch/PiPPy 969: a group is all or nothing.
TEST(CheckModule, GroupThatWaitsForItsOwnResult) {
  const std::string r0 = "wSF1 SF1>1 RB0<1 B0 RB1<1 B1";
  const std::string r1 =
      "RF0<0 F0 SF0>2 RF1<0 F1 SF1>2 RB0<2 B0 SB0>0 RB1<2 B1 SB1>0";
  const std::string r2 = " F0 RF1<1 F1 B0 SB0>1 B1 SB1>1";
  const auto all = Check(
      {"F0 F1 [ SF0>1 SF1>2 ] " + r0, r1, "[ RF0.1<0 RF0<1 ]" + r2}, kTwo);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCommunicationDeadlock));
  EXPECT_THAT(Text(all[0]),
              AllOf(HasSubstr("start together"), HasSubstr("rank 0, pc 2"),
                    HasSubstr("rank 2, pc 0")));
  EXPECT_THAT(
      Check({"F0 F1 SF0>1 SF1>2 " + r0, r1, "RF0.1<0 RF0<1" + r2}, kTwo),
      SizeIs(0));
}

// Rank 0 waits for a gradient before it sends what that gradient needs.
TEST(CheckModule, WaitBeforeTheSendThatIsNeeded) {
  const auto all = Check({"F0 RB0<1 wRB0 SF0>1 B0", "RF0<0 F0 B0 SB0>0"});
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCommunicationDeadlock));
  EXPECT_THAT(Text(all[0]), HasSubstr("`wait"));
}

// rank 0: F0 B0 F1 B1, rank 1: F0 F1 B0 B1 with perfect communication.
TEST(CheckModule, FaultOfTheScheduleIsCalledThat) {
  const auto all = Check({"F0 SF0>1 RB0<1 B0 F1 SF1>1 RB1<1 B1",
                          "RF0<0 F0 RF1<0 F1 B0 SB0>0 B1 SB1>0"},
                         kTwo);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kDependencyCycle));
  EXPECT_THAT(Text(all[0]), HasSubstr("compute operations"));
  EXPECT_THAT(all[0].help, HasSubstr("change the schedule"));
}

TEST(CheckModule, CollectivesInTwoOrders) {
  const std::vector<bytecode::Group> groups = {
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}},
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}}};
  const std::string a = "F0 SF0>1 RB0<1 B0 S0 ", b = "RF0<0 F0 B0 SB0>0 S0 ";
  const Notation two = {.groups = groups};
  EXPECT_THAT(Check({a + "A0 A1 U0", b + "A0 A1 U0"}, two), SizeIs(0));
  const auto all = Check({a + "A0 A1 U0", b + "A1 A0 U0"}, two);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCommunicationDeadlock));
  EXPECT_THAT(Text(all[0]),
              AllOf(HasSubstr("`reduce g0`"), HasSubstr("`reduce g1`")));
}

TEST(CheckModule, CollectiveNotReached) {
  const std::vector<bytecode::Group> groups = {
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}}};
  const auto all =
      Check({"F0 SF0>1 RB0<1 B0 S0 A0 U0", "RF0<0 F0 B0 SB0>0 S0 U0"},
            {.groups = groups});
  ASSERT_THAT(Codes(all), ElementsAre(Code::kCollectiveNotReached,
                                      Code::kGradientReduction));
  EXPECT_THAT(all[0].message, HasSubstr("waits for rank 1 for ever"));
}

// ---- Matching ----

// Reported as NVIDIA/nccl 2130: the orphan is named, not its victim.
TEST(CheckModule, OrphanInAGroupIsNamed) {
  const auto all = Check({"F0 [ SF0>1 RB7<1 ] RB0<1 B0", "RF0<0 F0 B0 SB0>0"},
                         {.micro_batches = 8});
  EXPECT_THAT(Codes(all), ::testing::Contains(Code::kUnmatchedReceive));
  for (const auto& d : all) {
    if (d.code != Code::kUnmatchedReceive) continue;
    EXPECT_EQ(d.message,
              "`RECV grad s1 m7` from rank 1 (rank 0, pc 3) on lane l1 has no "
              "matching send on rank 1");
  }
  EXPECT_THAT(
      Codes(all),
      ::testing::Not(::testing::Contains(Code::kCommunicationDeadlock)));
}

TEST(CheckModule, SendToTheWrongRankShowsBothEnds) {
  const auto all = Check({"F0 SF0>2 RB0<1 B0", "RF0<0 F0 SF0>2 RB0<2 B0 SB0>0",
                          "RF0<1 F0 B0 SB0>1"});
  ASSERT_THAT(Codes(all),
              ElementsAre(Code::kUnmatchedSend, Code::kUnmatchedReceive));
  EXPECT_THAT(all[0].notes[0].message, HasSubstr("rank 1, pc 0"));
}

TEST(CheckModule, OtherOrderAtTheTwoEndsOfALane) {
  const auto all = Check({"F0 F1 SF1>1 SF0>1 RB0<1 B0 RB1<1 B1",
                          "RF0<0 RF1<0 F0 F1 B0 SB0>0 B1 SB1>0"},
                         kTwo);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kFifoMismatch));
  EXPECT_EQ(Text(all[0]),
            "message 1 from rank 0 to rank 1 on lane l0 is sent as `act s0 m1` "
            "and received as `act s0 m0`\n"
            "`SEND act s0 m1` to rank 1 (rank 0, pc 2) sends it\n"
            "`RECV act s0 m0` from rank 0 (rank 1, pc 0) receives it\n"
            "1 more on this lane do not agree\n");
  EXPECT_THAT(all[0].help, HasSubstr("no tags"));
}

// ---- Contents ----

TEST(CheckModule, SendOfAnotherSlot) {
  Module m = FromNotation({"F0 F1 SF0>1 SF1>1 RB0<1 B0 RB1<1 B1",
                           "RF0<0 RF1<0 F0 F1 B0 SB0>0 B1 SB1>0"},
                          kTwo);
  std::swap(m.programs[0].code[2].operand[2], m.programs[0].code[3].operand[2]);
  const auto all = Check(m);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kWrongContent));
  EXPECT_EQ(all[0].message,
            "`SEND act s0 m0` to rank 1 (rank 0, pc 2) sends a slot that holds "
            "`act s0 m1`");
}

TEST(CheckModule, ForwardOfAnotherMicroBatch) {
  Module m = FromNotation({"F0 F1 SF0>1 SF1>1 RB0<1 B0 RB1<1 B1",
                           "RF0<0 RF1<0 F0 F1 B0 SB0>0 B1 SB1>0"},
                          kTwo);
  for (auto& program : m.programs) program.debug.clear();
  auto& code = m.programs[1].code;
  const auto first =
      std::ranges::find(code, Opcode::kRecv, &bytecode::Instr::op);
  std::swap(first->operand[5], (first + 1)->operand[5]);  // believed ...
  auto& sends = m.programs[0].code;
  std::swap(sends[2], sends[3]);  // ... and served: only the reader is wrong
  const auto all = Check(m);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kWrongInput));
  EXPECT_THAT(all[0].message, HasSubstr("needs `act s0 m0`, its slot holds "
                                        "`act s0 m1`"));
}

// ---- Coverage and placement ----

TEST(CheckModule, CountedTwice) {
  const auto all = Check({"F0 B0 F0 B0"});
  ASSERT_THAT(Codes(all), ElementsAre(Code::kDoubled, Code::kDoubled));
  EXPECT_EQ(all[0].message, "rank 0: `F[0]` runs more than once for m = 0");
  EXPECT_EQ(all[1].notes[1].message, "`B s0 m0` (rank 0, pc 3) comes on top");
}

TEST(CheckModule, MicroBatchLeftOut) {
  const auto all = Check({"F0 B0 F2 B2"}, kThree);
  ASSERT_THAT(Codes(all), ElementsAre(Code::kMissing, Code::kMissing));
  EXPECT_EQ(all[1].message, "rank 0: `B[0]` missing for m = 1");
}

TEST(CheckModule, ClaimOfManyMicroBatchesTakesNoMemory) {
  const auto all = Check({"F0 B0"}, {.micro_batches = (1u << 31) - 1});
  ASSERT_THAT(Codes(all), ElementsAre(Code::kMissing));
  EXPECT_THAT(all[0].message, HasSubstr("the module has 1"));
}

TEST(CheckModule, StageHeldTwice) {
  Module m = FromNotation({"F0 B0", "F0 B0"}, {.chunks = {{0}, {0}}});
  m.programs[1].chunks[0].replica = 0;
  EXPECT_THAT(Codes(Check(m)), ElementsAre(Code::kModulePlacement));
}

// ---- End of step ----

TEST(CheckModule, EndOfStep) {
  const auto codes = [](const std::string& program) {
    return Codes(Check({program}));
  };
  EXPECT_THAT(codes("F0 B0 S0 U0"), SizeIs(0));
  EXPECT_THAT(codes("F0 S0 B0 U0"), ElementsAre(Code::kGradientScale));
  EXPECT_THAT(codes("F0 B0 S0 S0 U0"), ElementsAre(Code::kGradientScale));
  EXPECT_THAT(codes("F0 B0 U0 S0"),
              ElementsAre(Code::kWeightUpdate, Code::kGradientScale));
  EXPECT_THAT(codes("F0 B0 S0 U0 U0"), ElementsAre(Code::kWeightUpdate));
  EXPECT_THAT(codes("F0 S0 U0 B0"),
              ElementsAre(Code::kWeightUpdate, Code::kGradientScale));
  EXPECT_THAT(codes("F0 I0 S0 W0 U0"), ElementsAre(Code::kGradientScale));
}

TEST(CheckModule, ReplicasNeedTheirSum) {
  // Two replicas of one stage, a micro-batch each.
  const Notation without = {
      .chunks = {{0}, {0}}, .micro_batches = 2, .replicas = 2};
  const auto all = Check({"F0 B0", "F1 B1"}, without);
  EXPECT_THAT(Codes(all),
              ElementsAre(Code::kGradientReduction, Code::kGradientReduction));
  Notation with = without;
  with.groups = {
      {bytecode::GroupKind::kReplicas, StageId(0), {Rank(0), Rank(1)}}};
  EXPECT_THAT(Check({"F0 B0", "F1 B1"}, with), SizeIs(0));
  EXPECT_THAT(Codes(Check({"F0 B0 A0 S0 U0", "F1 B1 S0 A0 U0"}, with)),
              ElementsAre(Code::kGradientReduction));
}

TEST(CheckModule, PlacesComeFromTheDebugSection) {
  Module m = FromNotation({"F0 S0 B0 U0"});
  m.sites.push_back({"a.sched", 7, 3, "drain"});
  m.programs[0].debug.assign(m.programs[0].code.size(), {0, 0});
  const auto all = Check(m);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].where.file, "a.sched");
  EXPECT_EQ(all[0].where.line, 7u);
  EXPECT_EQ(all[0].where.column, 3u);
}

}  // namespace
}  // namespace pp::check
