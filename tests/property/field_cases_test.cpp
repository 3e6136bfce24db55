// Faults that people met in the field, as small programs: the verdict, its
// kind, what the message names, and that a machine which follows the rules
// comes to the same end.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/check/check.h"
#include "runtime/bytecode/verifier.h"
#include "tests/support/emulator.h"
#include "tests/support/field_notation.h"

namespace pp {
namespace {

using analysis::Tier;
using diag::Code;
using testing::Notation;

struct Case {
  const char* name;
  std::vector<std::string> ranks;
  Notation notation;
  std::optional<Code> code;  // nullopt: accepted
  const char* names = "";    // what the message has to name
  Tier tier = Tier::kStrict;
};

Notation MicroBatches(uint32_t m) {
  Notation notation;
  notation.micro_batches = m;
  return notation;
}

Notation Vee(uint32_t m) {
  Notation notation = MicroBatches(m);
  notation.chunks = {{0, 3}, {1, 2}};
  return notation;
}

Notation Tied() {
  Notation notation = MicroBatches(1);
  notation.groups = {
      {bytecode::GroupKind::kTied, StageId(0), {Rank(0), Rank(1)}}};
  return notation;
}

const std::vector<std::string> kBothSendFirst = {
    "F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
    "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1 SB1>0"};

const Case kCases[] = {
    // NVIDIA/nccl #479
    {"BothSendFirst", kBothSendFirst, MicroBatches(2),
     Code::kCommunicationDeadlock, "tier strict"},
    {"BothSendFirstWithBufferedSends",
     kBothSendFirst,
     MicroBatches(2),
     {},
     "",
     Tier::kEager},
    {"TheSameAsExchanges",
     {"F0 SF0>1 F1 [ SF1>1 RB0<1 ] B0 RB1<1 B1",
      "RF0<0 F0 B0 [ SB0>0 RF1<0 ] F1 B1 SB1>0"},
     MicroBatches(2),
     {}},
    // NVIDIA/nccl #2130: a receive that nobody serves holds up its whole group
    {"OrphanReceiveInAGroup",
     {"F0 [ SF0>1 RB0<1 RB1<1 ] B0 F1 SF1>1 B1",
      "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1"},
     MicroBatches(2),
     Code::kUnmatchedReceive,
     "grad s1 m1"},
    // microsoft/DeepSpeed #5518: one side counts more gradients than the other
    {"GradientThatIsNeverSent",
     {"F0 SF0>1 RB0<1 B0", "RF0<0 F0 B0"},
     MicroBatches(1),
     Code::kUnmatchedReceive,
     "grad s1 m0"},
    // Megatron-Bridge #6025: one rank has already gone
    {"RankWithoutAProgram",
     {"", "RF0<0 F0 B0 SB0>0"},
     MicroBatches(1),
     Code::kMissing,
     "rank 0: `F[0]` missing"},
    // pytorch #139404: two gradients alive before either is sent
    {"BackwardsFirstThenTheirSends",
     {"F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
      "RF0<0 F0 RF1<0 F1 B0 B1 SB0>0 SB1>0"},
     MicroBatches(2),
     {}},
    {"BackwardsFirstThenTheirSendsSwapped",
     {"F0 SF0>1 F1 SF1>1 RB1<1 B1 RB0<1 B0",
      "RF0<0 F0 RF1<0 F1 B0 B1 SB1>0 SB0>0"},
     MicroBatches(2),
     {}},
    // The same with the two ends apart: swapped in silence
    {"EndsOfALaneDisagree",
     {"F0 SF0>1 F1 SF1>1 RB0<1 B0 RB1<1 B1",
      "RF0<0 F0 RF1<0 F1 B0 B1 SB1>0 SB0>0"},
     MicroBatches(2),
     Code::kFifoMismatch,
     "m1"},
    // torchtitan #774: a V placement hands over on the turn without a message
    {"VeeTurnsWithoutAMessage",
     {"F0.0 SF0.0>1 RF2.0<1 F3.0 B3.0 SB3.0>1 RB1.0<1 B0.0",
      "RF0.0<0 F1.0 F2.0 SF2.0>0 RB3.0<0 B2.0 B1.0 SB1.0>0"},
     Vee(1),
     {}},
    // One peer about two stages, in another order at the two ends
    {"VeeOrphan",
     {"F0.0 SF0.0>1 RF2.0<1 F3.0 B3.0 SB3.0>1 B0.0",
      "RF0.0<0 F1.0 F2.0 SF2.0>0 RB3.0<0 B2.0 B1.0 SB1.0>0"},
     Vee(1),
     Code::kUnmatchedSend,
     "grad s1 m0"},
    // uw-syfi/piper #13: weights that two ranks share
    {"TiedWeightsSummed",
     {"F0 SF0>1 RB0<1 B0 S0 A0 U0", "RF0<0 F0 B0 SB0>0 S0 A0 U0"},
     Tied(),
     {}},
    {"TiedWeightsSummedAfterTheUpdate",
     {"F0 SF0>1 RB0<1 B0 S0 U0 A0", "RF0<0 F0 B0 SB0>0 S0 U0 A0"},
     Tied(),
     Code::kGradientReduction,
     ""},
    {"TiedWeightsNeverSummed",
     {"F0 SF0>1 RB0<1 B0 S0 U0", "RF0<0 F0 B0 SB0>0 S0 U0"},
     Tied(),
     Code::kGradientReduction,
     ""},
    // picotron #5: on the last stage, which has no drain, the sum never comes
    {"SumReachedByOneRankOnly",
     {"F0 SF0>1 RB0<1 B0 S0 A0 U0", "RF0<0 F0 B0 SB0>0 S0 U0"},
     Tied(),
     Code::kCollectiveNotReached,
     "rank 1"},
    // Updates that do not belong
    {"UpdateBeforeTheLastGradient",
     {"F0 SF0>1 F1 SF1>1 RB0<1 B0 S0 U0 RB1<1 B1",
      "RF0<0 F0 B0 SB0>0 RF1<0 F1 B1 SB1>0"},
     MicroBatches(2),
     Code::kWeightUpdate,
     ""},
    {"ScaledTwice",
     {"F0 B0 S0 S0 U0"},
     MicroBatches(1),
     Code::kGradientScale,
     ""},
};

class FieldCases : public ::testing::TestWithParam<Case> {};

TEST_P(FieldCases, VerdictAndMessage) {
  const Case& c = GetParam();
  const bytecode::Module module = testing::FromNotation(c.ranks, c.notation);
  ASSERT_TRUE(bytecode::Verify(module).ok())
      << bytecode::Verify(module).message();
  diag::Emitter diag;
  const bool accepted = check::CheckModule(module, diag, {c.tier});
  std::string all;
  bool named = false;
  for (const auto& d : diag.all()) {
    all += d.message + "\n";
    named |= c.code && d.code == *c.code &&
             d.message.find(c.names) != std::string::npos;
  }
  EXPECT_EQ(accepted, !c.code.has_value()) << all;
  EXPECT_EQ(named, c.code.has_value()) << all;
  const testing::Outcome truth =
      testing::Emulate(module, {.eager = c.tier == Tier::kEager});
  EXPECT_EQ(truth.ok(), accepted) << truth.Text();
}

INSTANTIATE_TEST_SUITE_P(All, FieldCases, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace pp
