#include <gtest/gtest.h>

#include "runtime/bytecode/text.h"
#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

TEST(Print, Instructions) {
  EXPECT_EQ(PrintInstr(op::Forward{
                ChunkId{0}, MicroBatch{3}, SlotId{1}, SlotId{2}, StashId{0}, {}}
                           .Pack()),
            "forward c0 m3 %1 -> %2 $0");
  EXPECT_EQ(PrintInstr(op::Backward{
                ChunkId{0}, MicroBatch{3}, SlotId{1}, kNoSlot, StashId{0}, {}}
                           .Pack()),
            "backward c0 m3 %1 -> - $0");
  EXPECT_EQ(PrintInstr(op::Recv{Rank{1}, LaneId{0}, SlotId{5}, Payload::kGrad,
                                StageId{2}, MicroBatch{7}}
                           .Pack()),
            "recv r1 l0 %5 grad s2 m7");
  EXPECT_EQ(PrintInstr(op::GroupBegin{}.Pack()), "group_begin");
  EXPECT_EQ(PrintInstr(Instr{static_cast<Opcode>(0x99), {}}), "<opcode 0x99>");
}

TEST(Print, WholeModule) {
  Module m = SampleModule();
  m.programs.pop_back();
  m.programs[0].code.resize(3);
  m.programs[0].debug.resize(3);
  EXPECT_EQ(Print(m), R"(ppasm 1

module
  micro_batches 2
  stages 2
  replicas 1
  lanes 2

facts
  schedule "one_f_one_b"
  source_file "one_f_one_b.sched"
  source_hash "00ff"
  costs "F=1,B=2,I=1,W=1,comm=0"
  placement "linear"
  tier "strict"
  compiler "ppc 0.1.0"
  makespan 9
  bubble_fraction 0.3333333333333333
  param P 2
  param M 2
  peak_activations 2 1

group g0 tied s0 r0 r1

site one_f_one_b.sched:14:29 steady
site one_f_one_b.sched:15:29

rank 0
  chunk c0 s0
  slots 2
  stashes 2
  code
    forward c0 m0 - -> %0 $0           ; one_f_one_b.sched:14:29 steady[0]
    send r1 l0 %0 act s0 m0            ; one_f_one_b.sched:15:29
    forward c0 m1 - -> %1 $1           ; one_f_one_b.sched:14:29 steady[0]
)");
}

TEST(Print, SitesOfInstructions) {
  const Module m = SampleModule();
  EXPECT_EQ(PrintSite(m, Rank{0}, Pc{4}), "one_f_one_b.sched:14:29 steady[1]");
  EXPECT_EQ(PrintSite(m, Rank{0}, Pc{5}), "one_f_one_b.sched:15:29 [1]");
  const auto last = static_cast<uint32_t>(m.programs[0].code.size() - 1);
  EXPECT_EQ(PrintSite(m, Rank{0}, Pc{last}), "");
  EXPECT_EQ(PrintSite(m, Rank{0}, Pc{1000}), "");
  EXPECT_EQ(PrintSite(m, Rank{9}, Pc{0}), "");
}

TEST(Print, EventNames) {
  const RankProgram p = SampleRank1();
  EXPECT_EQ(EventName(p, p.code[0]), "RECV act s0 m0");
  EXPECT_EQ(EventName(p, p.code[1]), "wait");
  EXPECT_EQ(EventName(p, p.code[2]), "F s1 m0");
  EXPECT_EQ(EventName(p, p.code[4]), "I s1 m0");
  EXPECT_EQ(EventName(p, p.code[6]), "W s1 m0");
  const RankProgram p0 = SampleRank0();
  EXPECT_EQ(EventName(p0, p0.code[8]), "B s0 m0");
}

}  // namespace
}  // namespace pp::bytecode
