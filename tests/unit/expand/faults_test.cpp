// Each diagnostic of expand: the place, the words, rank, iteration and values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;
using testing::Values;

struct Case {
  const char* name;
  int64_t p, m;
  const char* body;  // line 2 and on, of a schedule of P and M
  const char* said;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class ExpandFault : public ::testing::TestWithParam<Case> {};

TEST_P(ExpandFault, IsSaid) {
  const Case& c = GetParam();
  SchedText sched("schedule s(P, M) {\n" + std::string(c.body) + "\n}");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  auto expansion = sched.Expand({{"P", c.p}, {"M", c.m}});
  EXPECT_EQ(sched.Said(), c.said);
  EXPECT_FALSE(expansion.schedule);
  EXPECT_EQ(expansion.outcome, sched.Said().find("PP2104") == std::string::npos
                                   ? expand::Outcome::kFailed
                                   : expand::Outcome::kRefused);
}

const Case kCases[] = {
    {"Require", 4, 3, "place linear rank r { F } require M >= P",
     "2:27: PP2104 `s` requires `M >= P`\n"
     "  note `M >= P` does not hold with P = 4, M = 3: left 3, right 4\n"},
    {"RequireGuardsALet", 4, 4,
     "let d = M / (M - P) require M > P, \"more micro-batches than ranks\"\n"
     "place linear rank r { repeat d { F } }",
     "2:21: PP2104 more micro-batches than ranks\n"
     "  note `M > P` does not hold with P = 4, M = 4: left 4, right 4\n"},
    {"LetDividesByZero", 4, 4,
     "let d = M / (M - P) place linear rank r { repeat d { F } }",
     "2:9: PP2106 `4 / 0` divides by zero\n"
     "  note in `let d`, with P = 4, M = 4\n"},
    {"DivisionByZeroOnSomeRanks", 3, 2,
     "place linear rank r { repeat M / (r - r/2*2) { F } repeat 2 { B } }",
     "2:30: PP2106 `2 / 0` divides by zero on rank 0\n"
     "  note where r = 0\n"
     "  note the same on rank 2\n"
     "  note with P = 3, M = 2\n"},
    {"Overflow", 1, 2,
     "place linear rank r { for i in 0..M { F@(i * 9223372036854775807 * 2) "
     "} }",
     "2:41: PP2105 `9223372036854775807 * 2` does not fit 64 bits on rank 0\n"
     "  note in iteration 1, where i = 1\n"
     "  note with P = 1, M = 2\n"},
    {"NegativeRepeat", 4, 2,
     "place linear rank r { let warmup = P-1-r\n"
     "phase steady { repeat M-warmup { F } } }",
     "3:23: PP2107 `repeat` of -1 times on rank 0\n"
     "  note in phase `steady`, where warmup = 3\n"
     "  note with P = 4, M = 2\n"
     "  help: a count is 0 or more: limit it with `max(0, ...)`, or the "
     "warm-up with `min(..., M)`\n"},
    {"RankTwice", 1, 1, "place linear rank 0 { F }\nrank P-1 { B }",
     "3:6: PP2109 rank 0 has two programs\n"
     "  note 2:19: the first is here\n"
     "  note with P = 1, M = 1\n"},
    {"RanksTwice", 4, 1, "place linear rank r { F }\nrank k in 1..P { B }",
     "3:11: PP2109 ranks 1..3 have two programs\n"
     "  note 2:19: the first is here\n"
     "  note with P = 4, M = 1\n"},
    {"RankMissing", 4, 1, "place linear rank 0 { F }\nrank 1 { B }",
     "1:10: PP2110 no program for ranks 2, 3\n"
     "  note 2:19: this block does not take it in\n"
     "  note 3:6: this block does not take it in\n"
     "  note with P = 4, M = 1\n"},
    {"RankOutOfRange", 2, 1, "place linear rank r in 0..P+1 { F }",
     "2:24: PP2111 rank 2 out of range 0..1\n"
     "  note with P = 2, M = 1\n"},
    {"RankNegative", 2, 1, "place linear rank 0-1 { F } rank r { F }",
     "2:19: PP2111 rank -1 out of range 0..1\n"
     "  note with P = 2, M = 1\n"},
    {"WaveOfNothing", 2, 1, "place wave(M - 1) rank r { F }",
     "2:1: PP2112 `wave(0)`: a rank holds 1..65535 chunks\n"
     "  note with P = 2, M = 1\n"},
    {"LoopOfNothing", 2, 1, "place loop(M - 1) rank r { F }",
     "2:1: PP2112 `loop(0)`: a rank holds 1..65535 chunks\n"
     "  note with P = 2, M = 1\n"},
    {"StageTwice", 2, 1,
     "place custom { stage s in 0..P -> rank s\n stage 1 -> rank 0, chunk 1 "
     "}\nrank r { F }",
     "3:2: PP2112 stage 1 has two homes: rank 1 and rank 0\n"
     "  note 2:16: the other one is given here\n"
     "  note with P = 2, M = 1\n"},
    {"StageMissing", 2, 1,
     "place custom { stage 0 -> rank 0 stage 2 -> rank 1 } rank r { F }",
     "2:1: PP2112 stage 1 has no home, but stage 2 has\n"
     "  note with P = 2, M = 1\n"},
    {"TwoStagesOneChunk", 1, 1,
     "place custom { stage 0 -> rank 0 stage 1 -> rank 0 } rank r { F }",
     "2:34: PP2112 stages 0 and 1 are both chunk 0 of rank 0\n"
     "  note 2:16: the other one is given here\n"
     "  note with P = 1, M = 1\n"},
    {"ChunkGap", 1, 1,
     "place custom { stage 0 -> rank 0 stage 1 -> rank 0, chunk 2 }\n"
     "rank r { F }",
     "2:34: PP2112 rank 0 holds chunk 2, but no chunk 1\n"
     "  note with P = 1, M = 1\n"},
    {"RankWithoutStage", 3, 1,
     "place custom { stage 0 -> rank 1 } rank r { F }",
     "2:1: PP2112 no stage for ranks 0, 2\n"
     "  note with P = 3, M = 1\n"},
    {"StageOnNoRank", 2, 1,
     "place custom { stage s in 0..3 -> rank s } rank r { F }",
     "2:16: PP2111 stage 2 goes to rank 2, out of range 0..1\n"
     "  note with P = 2, M = 1\n"},
    {"NegativeStage", 2, 1,
     "place custom { stage s in 0-1..3 -> rank 0, chunk s } rank r { F }",
     "2:16: PP2112 stage -1 out of range 0..4294836224\n"
     "  note with P = 2, M = 1\n"},
    {"PastEndOnAllRanks", 4, 2,
     "place linear rank r { phase fill { repeat M+1 { F } } }",
     "2:49: PP2113 `F` runs past the end on rank 0: all 2 micro-batches are "
     "taken\n"
     "  note in phase `fill`, iteration 2\n"
     "  note the same on ranks 1..3\n"
     "  note with P = 4, M = 2\n"},
    {"PastEndOfAChunk", 1, 1, "place loop(2) rank r { F[1] F[1] }",
     "2:29: PP2113 `F[1]` runs past the end on rank 0: all 1 micro-batches "
     "are taken\n"
     "  note with P = 1, M = 1\n"},
    {"PastEndOfAWalk", 1, 1,
     "place loop(2) walk B by (c, m) rank r { repeat 3 { I } }",
     "2:52: PP2113 `I` runs past the end on rank 0: all 1 micro-batches of "
     "all 2 chunks are taken\n"
     "  note in iteration 2\n"
     "  note with P = 1, M = 1\n"},
    {"NothingOwed", 2, 2, "place linear rank r { F I W W }",
     "2:29: PP2114 `W` has no `I` to follow on rank 0: each one so far has "
     "had its `W`\n"
     "  note the same on rank 1\n"
     "  note with P = 2, M = 2\n"},
    {"NothingOwedOfAChunk", 1, 1, "place loop(2) rank r { I[0] W[1] }",
     "2:29: PP2114 `W[1]` has no `I` to follow on rank 0: each one so far has "
     "had its `W`\n"
     "  note with P = 1, M = 1\n"},
    {"CursorThenExplicit", 1, 2, "place linear rank r { F\nF@1 }",
     "3:1: PP2115 `F` names its micro-batch, but elsewhere takes the next "
     "one, for chunk 0 on rank 0\n"
     "  note 2:23: the other way is used here\n"
     "  note with P = 1, M = 2\n"
     "  help: write `@m` everywhere, or nowhere\n"},
    {"ExplicitThenCursorOfTheSharedCursor", 1, 2,
     "place linear rank r { B@0\nI }",
     "3:1: PP2115 `I` takes the next micro-batch, but elsewhere names it, for "
     "chunk 0 on rank 0\n"
     "  note 2:23: the other way is used here\n"
     "  note with P = 1, M = 2\n"
     "  help: write `@m` everywhere, or nowhere\n"},
    // A warm-up that came from the depth of the pipeline alone.
    {"MicroBatchMinusOne", 2, 2, "place linear rank r { F@0 F@1 B@(0-1) B@0 }",
     "2:33: PP2116 micro-batch -1 out of range 0..1 on rank 0\n"
     "  note the same on rank 1\n"
     "  note with P = 2, M = 2\n"},
    {"MicroBatchM", 1, 2, "place linear rank r { for i in 0..4 { F@i } B@5 }",
     "2:41: PP2116 micro-batch 2 out of range 0..1 on rank 0\n"
     "  note in iteration 2, where i = 2\n"
     "  note 1 more like this on the same rank\n"
     "  note with P = 1, M = 2\n"
     "2:47: PP2116 micro-batch 5 out of range 0..1 on rank 0\n"
     "  note with P = 1, M = 2\n"},
    {"ChunkOutOfRange", 1, 1, "place linear rank r { F[1] }",
     "2:25: PP2116 chunk 1 out of range 0..0 on rank 0\n"
     "  note with P = 1, M = 1\n"},
    {"WalkTie", 2, 2, "place vee walk F by (m / 2, c) rank r { F }",
     "2:11: PP2117 `walk F` gives (chunk 0, micro-batch 0) and (chunk 0, "
     "micro-batch 1) the same key (0, 0) on rank 0\n"
     "  note the same on rank 1\n"
     "  note with P = 2, M = 2\n"
     "  help: add to the key what tells them apart\n"},
    {"WalkFaults", 1, 2, "place linear walk B by (m / (m - 1)) rank r { F }",
     "2:25: PP2106 `1 / 0` divides by zero\n"
     "  note in `walk B` on rank 0\n"
     "  note with P = 1, M = 2\n"},
    {"ChunkNeeded", 2, 1, "place vee rank r { F }",
     "2:20: PP2118 `F` does not say which of the 2 chunks on rank 0\n"
     "  note the same on rank 1\n"
     "  note with P = 2, M = 1\n"
     "  help: write `F[c]`, or say in which order the cursor meets them: "
     "`walk F by (m / P, c, m % P)`\n"},
    {"ChunkNeededWithMicroBatch", 1, 1,
     "place vee walk B by (c, m) rank r { B@0 }",
     "2:37: PP2118 `B` does not say which of the 2 chunks on rank 0\n"
     "  note with P = 1, M = 1\n"
     "  help: write `B[c]`\n"},
    {"SlotOutsideOfSlots", 2, 1, "place linear rank r { F at 3 }",
     "2:23: PP2120 `at` has no meaning in a `rank` program on rank 0\n"
     "  note the same on rank 1\n"
     "  note with P = 2, M = 1\n"
     "  help: write `slots r { ... }` for a program of time slots\n"},
    {"SlotsWithoutASlot", 1, 1, "place linear slots r { F at m B }",
     "2:31: PP2120 `B` has no time slot on rank 0\n"
     "  note in iteration 0\n"
     "  note with P = 1, M = 1\n"
     "  help: in `slots` write `B at ...`\n"},
    {"SlotsWithAMicroBatch", 1, 1, "place linear slots r { F@0 at m B at 3 }",
     "2:24: PP2120 `F` names a micro-batch: in `slots` it is m\n"
     "  note in iteration 0\n"
     "  note with P = 1, M = 1\n"},
    {"TwoInOneSlot", 1, 2, "place linear slots r {\nF at 2*m\nB at 3*m+2 }",
     "3:1: PP2121 `B@0 (stage 0)` and `F@1 (stage 0)` are both in slot 2 on "
     "rank 0\n"
     "  note 4:1: the other one is here\n"
     "  note with P = 1, M = 2\n"},
    // A B takes two slots of a block.
    {"TwoInOneSlotOfABlock", 1, 2,
     "place linear block r every 2 {\nF at 0\nB at 1 }",
     "3:1: PP2121 `B@0 (stage 0)` and `F@1 (stage 0)` are both in slot 2 on "
     "rank 0\n"
     "  note 4:1: the other one is here\n"
     "  note with P = 1, M = 2\n"
     "  help: in a block, slots have to differ modulo the period too\n"},
    {"BlockOfNoLength", 1, 1,
     "place linear block r every P-1 { F at 0 B at 1 }",
     "2:28: PP2122 a block every 0 slots on rank 0\n"
     "  note with P = 1, M = 1\n"},
    {"BlockFillsAfterNoI", 1, 1,
     "place linear block r every 4 { F at 0 B at 1 W }",
     "2:46: PP2114 `W` has no `I` to follow on rank 0: each one so far has "
     "had its `W`\n"
     "  note with P = 1, M = 1\n"},
    {"BlockWithoutAChunk", 1, 1, "place vee block r every 6 { F at 0 }",
     "2:29: PP2118 `F` does not say which of the 2 chunks on rank 0\n"
     "  note with P = 1, M = 1\n"
     "  help: write `F[c]`, or say in which order the cursor meets them: "
     "`walk F by (m / P, c, m % P)`\n"},
    {"SlotBeyond64Bits", 1, 3,
     "place linear block r every 9223372036854775807 { F at 1 B at 2 }",
     "2:20: PP2105 the slot of micro-batch 1 does not fit 64 bits on rank 0\n"
     "  note with P = 1, M = 3\n"},
    {"PZero", 0, 1, "place linear rank r { F }",
     "1:12: PP2103 P = 0 out of range 1..65535\n"},
    {"BothOutOfRange", 65536, 2147483648, "place linear rank r { F }",
     "1:12: PP2103 P = 65536 out of range 1..65535\n"
     "1:15: PP2103 M = 2147483648 out of range 1..2147483647\n"},
    {"TooManyForAnyOrder", 8, 2147483647, "place linear rank r { F }",
     "2:1: PP2108 8 stages and 2147483647 micro-batches need at least "
     "34359738352 operations, more than the limit of 200000000\n"
     "  note with P = 8, M = 2147483647\n"},
};

INSTANTIATE_TEST_SUITE_P(All, ExpandFault, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// ---- Parameters -----------------------------------------------------------

std::string SaidOf(const Values& values) {
  SchedText sched(
      "schedule s(P, M, chunks = 2) { place loop(chunks) rank r { F[0] } }");
  sched.Expand(values);
  return sched.Said();
}

TEST(Parameters, UnknownGivesTheNearest) {
  EXPECT_EQ(SaidOf({{"P", 2}, {"M", 2}, {"chunk", 3}}),
            "1:10: PP2101 schedule `s` has no parameter `chunk`\n"
            "  note its parameters: P, M, chunks\n"
            "  help: did you mean `chunks`?\n");
}

TEST(Parameters, GivenTwice) {
  EXPECT_EQ(SaidOf({{"P", 2}, {"M", 2}, {"P", 3}}),
            "1:10: PP2101 parameter `P` is given twice\n");
}

TEST(Parameters, MissingSayHowToGiveThem) {
  EXPECT_EQ(SaidOf({{"chunks", 1}}),
            "1:12: PP2102 parameter `P` has no value\n"
            "  help: -P VALUE\n"
            "1:15: PP2102 parameter `M` has no value\n"
            "  help: -M VALUE\n");
}

// ---- Limits ---------------------------------------------------------------

std::string SaidWithLimit(const std::string& program, uint64_t max_ops) {
  SchedText sched("schedule s(P, M) { place linear rank r { " + program +
                  " } }");
  sched.Expand({{"P", 2}, {"M", 2}}, {max_ops});
  return sched.Said();
}

TEST(Limits, OperationsAreCountedOverAllRanks) {
  EXPECT_EQ(SaidWithLimit("repeat M { F } repeat M { B } repeat M { F@0 }", 8),
            "1:83: PP2115 `F` names its micro-batch, but elsewhere takes the "
            "next one, for chunk 0 on rank 0\n"
            "  note in iteration 0\n"
            "  note 1:53: the other way is used here\n"
            "  note the same on rank 1\n"
            "  note with P = 2, M = 2\n"
            "  help: write `@m` everywhere, or nowhere\n");
  EXPECT_EQ(SaidWithLimit("for i in 0..7 { F@0 }", 10),
            "1:58: PP2108 the expansion passes the limit of 10 operations on "
            "rank 1\n"
            "  note in iteration 3\n"
            "  note 10 operations and 13 steps were made up to here; the limit "
            "is on operations\n"
            "  note with P = 2, M = 2\n");
}

TEST(Limits, LoopsWithoutOperationsEndToo) {
  EXPECT_EQ(SaidWithLimit("repeat 4611686018427387904 { let _a = 1 }", 100),
            "1:71: PP2108 the expansion passes the limit of 100 operations on "
            "rank 0\n"
            "  note in iteration 402\n"
            "  note 0 operations and 404 steps were made up to here; the limit "
            "is on steps\n"
            "  note with P = 2, M = 2\n");
}

TEST(Limits, EmptyLoopsCostNothing) {
  EXPECT_EQ(SaidWithLimit("repeat 4611686018427387904 { }"
                          "for i in 0..4611686018427387904 { }",
                          100),
            "");
}

}  // namespace
}  // namespace pp
