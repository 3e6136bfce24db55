// A small valid module for tests: P = 2, M = 2, 1F1B, built by hand.
#pragma once

#include "runtime/bytecode/module.h"

namespace pp::bytecode {

inline RankProgram SampleRank0() {
  RankProgram p;
  p.chunks = {{StageId{0}}};
  p.slots = 2;
  p.stashes = 2;
  const ChunkId c{0};
  const Rank peer{1};
  for (uint32_t mb = 0; mb < 2; ++mb) {
    p.code.push_back(
        op::Forward{c, MicroBatch{mb}, kNoSlot, SlotId{mb}, StashId{mb}, {}}
            .Pack());
    p.code.push_back(op::Send{
        peer, LaneId{0}, SlotId{mb}, Payload::kAct, StageId{0},
        MicroBatch{mb}}.Pack());
  }
  for (uint32_t mb = 0; mb < 2; ++mb) {
    const SlotId slot{mb};
    p.code.push_back(op::Wait{slot}.Pack());
    p.code.push_back(op::Free{slot}.Pack());
    p.code.push_back(op::Recv{
        peer, LaneId{1}, slot, Payload::kGrad, StageId{1},
        MicroBatch{mb}}.Pack());
    p.code.push_back(op::Wait{slot}.Pack());
    p.code.push_back(
        op::Backward{c, MicroBatch{mb}, slot, kNoSlot, StashId{mb}, {}}.Pack());
    p.code.push_back(op::Free{slot}.Pack());
  }
  p.code.push_back(op::Scale{c}.Pack());
  p.code.push_back(op::Reduce{GroupId{0}}.Pack());
  p.code.push_back(op::Update{c}.Pack());
  return p;
}

inline RankProgram SampleRank1() {
  RankProgram p;
  p.chunks = {{StageId{1}}};
  p.slots = 2;
  p.stashes = 1;
  const ChunkId c{0};
  const Rank peer{0};
  for (uint32_t mb = 0; mb < 2; ++mb) {
    const SlotId in{0};
    const SlotId out{1};
    p.code.push_back(op::Recv{
        peer, LaneId{0}, in, Payload::kAct, StageId{0},
        MicroBatch{mb}}.Pack());
    p.code.push_back(op::Wait{in}.Pack());
    p.code.push_back(
        op::Forward{c, MicroBatch{mb}, in, kNoSlot, StashId{0}, {}}.Pack());
    p.code.push_back(op::Free{in}.Pack());
    p.code.push_back(
        op::BackwardInput{c, MicroBatch{mb}, kNoSlot, out, StashId{0}, {}}
            .Pack());
    p.code.push_back(op::Send{
        peer, LaneId{1}, out, Payload::kGrad, StageId{1},
        MicroBatch{mb}}.Pack());
    p.code.push_back(
        op::BackwardWeight{c, MicroBatch{mb}, StashId{0}, {}, {}, {}}.Pack());
    p.code.push_back(op::Wait{out}.Pack());
    p.code.push_back(op::Free{out}.Pack());
  }
  p.code.push_back(op::Scale{c}.Pack());
  p.code.push_back(op::Reduce{GroupId{0}}.Pack());
  p.code.push_back(op::Update{c}.Pack());
  return p;
}

inline Module SampleModule() {
  Module m;
  m.micro_batches = 2;
  m.stages = 2;
  m.lanes = 2;
  m.groups = {{GroupKind::kTied, StageId{0}, {Rank{0}, Rank{1}}}};
  m.sites = {{"one_f_one_b.sched", 14, 29, "steady"},
             {"one_f_one_b.sched", 15, 29, ""}};
  m.programs = {SampleRank0(), SampleRank1()};
  for (RankProgram& p : m.programs) {
    for (uint32_t pc = 0; pc < p.code.size(); ++pc) {
      p.debug.push_back({pc % 2, pc / 4});
    }
    p.debug.back() = {kNoSite, 0};
  }
  m.facts.schedule = "one_f_one_b";
  m.facts.params = {{"P", 2}, {"M", 2}};
  m.facts.source_file = "one_f_one_b.sched";
  m.facts.source_hash = "00ff";
  m.facts.costs = "F=1,B=2,I=1,W=1,comm=0";
  m.facts.placement = "linear";
  m.facts.tier = "strict";
  m.facts.compiler = "ppc 0.1.0";
  m.facts.makespan = 9;
  m.facts.bubble_fraction = 1.0 / 3;
  m.facts.peak_activations = {2, 1};
  return m;
}

}  // namespace pp::bytecode
