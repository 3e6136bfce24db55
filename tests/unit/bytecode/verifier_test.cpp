#include "runtime/bytecode/verifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

// What Verify says about the sample after `change`.
std::string After(const std::function<void(Module&)>& change) {
  Module m = SampleModule();
  change(m);
  const Status status = Verify(m);
  return status.ok() ? "ok" : status.message();
}

// ... after one instruction of rank 0 was replaced.
std::string Replaced(size_t pc, const Instr& instr) {
  return After([&](Module& m) { m.programs[0].code[pc] = instr; });
}

const ChunkId kC{0};

TEST(Verify, SampleIsFine) {
  EXPECT_EQ(After([](Module&) {}), "ok");
  EXPECT_EQ(After([](Module& m) {
              for (RankProgram& p : m.programs) p.debug.clear();
            }),
            "ok");
}

TEST(Verify, CountsOfTheModule) {
  EXPECT_EQ(After([](Module& m) { m.programs.clear(); }),
            "module: ranks is 0, expected 1..65536");
  EXPECT_EQ(After([](Module& m) { m.micro_batches = 0; }),
            "module: micro_batches is 0, expected 1..2147483647");
  EXPECT_EQ(After([](Module& m) { m.stages = 65537; }),
            "module: stages is 65537, expected 1..65536");
  EXPECT_EQ(After([](Module& m) { m.lanes = 257; }),
            "module: lanes is 257, expected 0..256");
  EXPECT_EQ(After([](Module& m) { m.replicas = 0; }),
            "module: replicas is 0, expected 1..65536");
}

TEST(Verify, Groups) {
  EXPECT_EQ(After([](Module& m) {
              m.groups[0].ranks = {Rank{0}, Rank{2}};
            }),
            "group g0: rank 2 is out of range 0..1");
  EXPECT_EQ(After([](Module& m) {
              m.groups[0].ranks = {Rank{1}, Rank{1}};
            }),
            "group g0: rank 1 is listed twice");
  EXPECT_EQ(After([](Module& m) { m.groups[0].ranks.clear(); }),
            "group g0: has no ranks");
  EXPECT_EQ(After([](Module& m) { m.groups[0].kind = GroupKind::kReplicas; }),
            "group g0: rank 1 holds no chunk of stage 0");
  EXPECT_EQ(After([](Module& m) { m.groups[0].kind = GroupKind{7}; }),
            "group g0: unknown kind 7");
  EXPECT_EQ(After([](Module& m) { m.groups[0].stage = StageId{1}; }),
            "group g0: stage 1 is out of range 0..0");
}

TEST(Verify, FactsAndSites) {
  EXPECT_EQ(After([](Module& m) { m.facts.schedule = std::string("a\xff"); }),
            "facts: schedule is not UTF-8 text: \"a\\xff\"");
  EXPECT_EQ(After([](Module& m) { m.facts.makespan = std::nan(""); }),
            "facts: makespan is nan, not a finite number");
  EXPECT_EQ(After([](Module& m) { m.facts.peak_activations = {1}; }),
            "facts: peak_activations has 1 entries for 2 ranks");
  EXPECT_EQ(After([](Module& m) { m.sites[1].phase = std::string("\x80"); }),
            "site 1: phase is not UTF-8 text: \"\\x80\"");
}

TEST(Verify, TablesOfARank) {
  EXPECT_EQ(After([](Module& m) {
              m.programs[0].chunks = {{}, {StageId{2}}};
            }),
            "rank 0: chunk c1: stage 2 is out of range 0..1");
  EXPECT_EQ(After([](Module& m) { m.programs[1].chunks[0].replica = 1; }),
            "rank 1: chunk c0: replica 1 is out of range 0..0");
  EXPECT_EQ(After([](Module& m) { m.programs[0].slots = 1u << 31; }),
            "rank 0: 2147483648 slots are declared, more than its 19 "
            "instructions can fill");
  EXPECT_EQ(After([](Module& m) { m.programs[0].stashes = 20; }),
            "rank 0: 20 stashes are declared, more than its 19 instructions "
            "can fill");
  EXPECT_EQ(After([](Module& m) { m.programs[0].debug.pop_back(); }),
            "rank 0: 18 debug entries for 19 instructions");
  EXPECT_EQ(After([](Module& m) { m.programs[0].debug[3].site = 2; }),
            "rank 0: debug entry of pc 3: no site 2, there are 2");
}

TEST(Verify, OperandBounds) {
  const auto forward = [](uint32_t c, uint32_t mb, uint32_t out,
                          uint32_t stash) {
    return Instr{Opcode::kForward, {c, mb, kNoSlot.value, out, stash}};
  };
  EXPECT_EQ(Replaced(0, forward(1, 0, 0, 0)),
            "rank 0, pc 0 (`forward c1 m0 - -> %0 $0`): Chunk `chunk` is 1, "
            "expected 0..0");
  EXPECT_EQ(Replaced(0, forward(0, 2, 0, 0)),
            "rank 0, pc 0 (`forward c0 m2 - -> %0 $0`): MicroBatch `mb` is 2, "
            "expected 0..1");
  EXPECT_EQ(Replaced(0, forward(0, 0, 2, 0)),
            "rank 0, pc 0 (`forward c0 m0 - -> %2 $0`): Slot `out` is 2, "
            "expected 0..1");
  EXPECT_EQ(Replaced(0, forward(0, 0, 0, 9)),
            "rank 0, pc 0 (`forward c0 m0 - -> %0 $9`): Stash `stash` is 9, "
            "expected 0..1");
  EXPECT_EQ(Replaced(1, Instr{Opcode::kSend, {2, 0, 0, 0, 0, 0}}),
            "rank 0, pc 1 (`send r2 l0 %0 act s0 m0`): Peer `peer` is 2, "
            "expected 0..1");
  EXPECT_EQ(Replaced(1, Instr{Opcode::kSend, {1, 2, 0, 0, 0, 0}}),
            "rank 0, pc 1 (`send r1 l2 %0 act s0 m0`): Lane `lane` is 2, "
            "expected 0..1");
  EXPECT_EQ(Replaced(1, Instr{Opcode::kSend, {1, 0, 0, 2, 0, 0}}),
            "rank 0, pc 1 (`send r1 l0 %0 2 s0 m0`): Payload `payload` is 2, "
            "expected 0..1");
  EXPECT_EQ(Replaced(17, op::Reduce{GroupId{1}}.Pack()),
            "rank 0, pc 17 (`reduce g1`): Group `group` is 1, expected 0..0");
  EXPECT_EQ(Replaced(4, Instr{Opcode::kWait, {0, 5}}),
            "rank 0, pc 4 (`wait %0`): an unused operand is 5, expected 0");
  EXPECT_EQ(Replaced(4, op::Wait{kNoSlot}.Pack()),
            "rank 0, pc 4 (`wait -`): a slot is needed here, not `-`");
  EXPECT_EQ(Replaced(4, Instr{Opcode{0x55}, {}}),
            "rank 0, pc 4 (`<opcode 0x55>`): no such opcode");
}

TEST(Verify, NoSlotExactlyAtTheEnds) {
  EXPECT_EQ(
      Replaced(0, op::Forward{kC, {}, SlotId{1}, SlotId{0}, {}, {}}.Pack()),
      "rank 0, pc 0 (`forward c0 m0 %1 -> %0 $0`): stage 0 of 2 has no "
      "`in` slot here");
  EXPECT_EQ(Replaced(0, op::Forward{kC, {}, kNoSlot, kNoSlot, {}, {}}.Pack()),
            "rank 0, pc 0 (`forward c0 m0 - -> - $0`): stage 0 of 2 needs an "
            "`out` slot here");
  EXPECT_EQ(Replaced(8, op::Backward{kC, {}, kNoSlot, kNoSlot, {}, {}}.Pack()),
            "rank 0, pc 8 (`backward c0 m0 - -> - $0`): stage 0 of 2 needs an "
            "`in` slot here");
}

TEST(Verify, SlotStates) {
  EXPECT_EQ(Replaced(0, op::Wait{SlotId{0}}.Pack()),
            "rank 0, pc 0 (`wait %0`): slot %0 is empty: nothing was received "
            "into it");
  EXPECT_EQ(Replaced(1, op::Wait{SlotId{0}}.Pack()),
            "rank 0, pc 1 (`wait %0`): slot %0 has no `send` or `recv` to "
            "wait for");
  EXPECT_EQ(Replaced(4, op::Free{SlotId{0}}.Pack()),
            "rank 0, pc 4 (`free %0`): slot %0 is being sent: no `wait` yet");
  EXPECT_EQ(Replaced(7, op::Scale{kC}.Pack()),
            "rank 0, pc 8 (`backward c0 m0 %0 -> - $0`): slot %0 is being "
            "received into: no `wait` yet");
  EXPECT_EQ(Replaced(5, op::Scale{kC}.Pack()),
            "rank 0, pc 6 (`recv r1 l1 %0 grad s1 m0`): slot %0 is full: a "
            "tensor in it was not freed");
  EXPECT_EQ(Replaced(15, op::Scale{kC}.Pack()),
            "rank 0, at the end: slot %1 is full: a tensor in it was not "
            "freed");
  EXPECT_EQ(Replaced(1, op::Send{Rank{0}, {}, SlotId{0}, {}, {}, {}}.Pack()),
            "rank 0, pc 1 (`send r0 l0 %0 act s0 m0`): a rank sends to itself");
}

TEST(Verify, ASlotMayBeReadWhileItIsSent) {
  // Rank 0 of a vee: stage 0 and stage 1; the output goes out and is used.
  Module m = SampleModule();
  m.programs[0].chunks.push_back({StageId{1}});
  auto& code = m.programs[0].code;
  m.programs[0].stashes = 3;
  m.programs[0].debug.clear();
  const StashId own{2};
  code.insert(code.begin() + 2,
              op::Forward{ChunkId{1}, {}, SlotId{0}, kNoSlot, own, {}}.Pack());
  code.push_back(
      op::BackwardInput{ChunkId{1}, {}, kNoSlot, SlotId{0}, own, {}}.Pack());
  code.push_back(op::BackwardWeight{ChunkId{1}, {}, own, {}, {}, {}}.Pack());
  code.push_back(op::Free{SlotId{0}}.Pack());
  const Status status = Verify(m);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Verify, StashStates) {
  EXPECT_EQ(
      Replaced(
          2, op::Forward{kC, MicroBatch{1}, kNoSlot, SlotId{1}, StashId{0}, {}}
                 .Pack()),
      "rank 0, pc 2 (`forward c0 m1 - -> %1 $0`): stash $0 is in use: "
      "it holds c0 m0");
  EXPECT_EQ(
      Replaced(
          8, op::Backward{kC, MicroBatch{1}, SlotId{0}, kNoSlot, StashId{0}, {}}
                 .Pack()),
      "rank 0, pc 8 (`backward c0 m1 %0 -> - $0`): stash $0 holds c0 "
      "m0, not c0 m1");
  EXPECT_EQ(
      Replaced(8, op::BackwardWeight{kC, {}, StashId{0}, {}, {}, {}}.Pack()),
      "rank 0, pc 8 (`backward_weight c0 m0 $0`): stash $0 has not had "
      "its input half: `backward_input` comes first");
  EXPECT_EQ(
      Replaced(
          8,
          op::BackwardInput{kC, {}, SlotId{0}, kNoSlot, StashId{0}, {}}.Pack()),
      "rank 0, at the end: stash $0 still holds c0 m0: no backward "
      "freed it");
  EXPECT_EQ(
      Replaced(14,
               op::Backward{kC, {}, SlotId{1}, kNoSlot, StashId{0}, {}}.Pack()),
      "rank 0, pc 14 (`backward c0 m0 %1 -> - $0`): stash $0 is empty: "
      "no forward filled it");
  EXPECT_EQ(After([](Module& m) {
              const Instr half = m.programs[1].code[4];
              m.programs[1].code[6] = half;
            }),
            "rank 1, pc 6 (`backward_input c0 m0 - -> %1 $0`): stash $0 has "
            "had its input half: only `backward_weight` may follow");
}

TEST(Verify, GroupsOfMessages) {
  const Instr begin = op::GroupBegin{}.Pack();
  const Instr end = op::GroupEnd{}.Pack();
  const auto insert = [](std::vector<std::pair<int, Instr>> what) {
    return After([&](Module& m) {
      RankProgram& p = m.programs[0];
      p.debug.clear();
      for (const auto& [pc, in] : what) {
        p.code.insert(p.code.begin() + pc, in);
      }
    });
  };
  EXPECT_EQ(insert({{1, begin}, {3, end}}), "ok");
  EXPECT_EQ(insert({{0, begin}}),
            "rank 0, pc 1 (`forward c0 m0 - -> %0 $0`): only `send` and "
            "`recv` may stand between `group_begin` and `group_end`");
  EXPECT_EQ(insert({{1, begin}, {2, begin}}),
            "rank 0, pc 2 (`group_begin`): only `send` and `recv` may stand "
            "between `group_begin` and `group_end`");
  EXPECT_EQ(insert({{1, end}}),
            "rank 0, pc 1 (`group_end`): no `group_begin` before it");
  EXPECT_EQ(insert({{19, begin}}),
            "rank 0, at the end: a `group_begin` has no `group_end`");
}

TEST(Verify, AReduceIsForMembers) {
  EXPECT_EQ(After([](Module& m) { m.groups[0].ranks = {Rank{1}}; }),
            "rank 0, pc 17 (`reduce g0`): rank 0 is not in group g0");
}

}  // namespace
}  // namespace pp::bytecode
