#include "compiler/analysis/memory.h"

#include <algorithm>

namespace pp::analysis {
namespace {

using ir::Bytes;
using ir::OpKind;

// What the operation adds to the activations of its rank.
Bytes Change(const ir::StageMemory& stage, OpKind kind) {
  switch (kind) {
    case OpKind::kF:
      return stage.act;
    case OpKind::kB:
      return -stage.act;
    case OpKind::kI:
      return stage.after_i - stage.act;
    case OpKind::kW:
      return -stage.after_i;
  }
  return 0;
}

void CountActivations(const ir::Schedule& schedule, Rank rank,
                      const ir::MemoryModel& memory, ir::RankMemory& out) {
  const auto& program = schedule.programs[rank.value];
  Bytes alive = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const uint32_t stage = schedule.StageOf(rank, program[i].chunk);
    alive += Change(memory.Of(stage), program[i].kind);
    if (alive <= out.activations) continue;
    out.activations = alive;
    out.peak_at = i;
  }
}

void CountSlots(const bytecode::RankProgram& program, Bytes message,
                ir::RankMemory& out) {
  std::vector<bool> received(program.slots);
  for (const bytecode::Instr& instr : program.code) {
    if (instr.op != bytecode::Opcode::kRecv) continue;
    received[bytecode::op::Recv::Of(instr).slot.value] = true;
  }
  const auto receive =
      static_cast<Bytes>(std::count(received.begin(), received.end(), true));
  out.receive_slots = receive * message;
  out.send_slots = (static_cast<Bytes>(program.slots) - receive) * message;
}

}  // namespace

std::vector<ir::RankMemory> PredictMemory(const ir::Schedule& schedule,
                                          const bytecode::Module& module,
                                          const ir::MemoryModel& memory,
                                          Bytes message) {
  std::vector<ir::RankMemory> ranks(schedule.ranks);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    for (uint32_t stage : schedule.placement.stage[r]) {
      const ir::StageMemory& of_stage = memory.Of(stage);
      ranks[r].weights += of_stage.weights;
      ranks[r].gradients += of_stage.gradients;
      ranks[r].optimizer += of_stage.optimizer;
    }
    CountActivations(schedule, Rank(r), memory, ranks[r]);
    CountSlots(module.programs[r], message, ranks[r]);
  }
  return ranks;
}

}  // namespace pp::analysis
