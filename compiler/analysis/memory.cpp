#include "compiler/analysis/memory.h"

#include <algorithm>

namespace pp::analysis {
namespace {

using ir::Bytes;

void CountActivations(const ir::Schedule& schedule, Rank rank,
                      const ir::MemoryModel& memory, ir::RankMemory& out) {
  const auto& program = schedule.programs[rank.value];
  Bytes alive = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const ir::StageMemory& stage =
        memory.Of(schedule.StageOf(rank, program[i].chunk));
    const auto change = ir::ChangeOf(program[i].kind, stage.act, stage.after_i);
    alive += change.begin + change.end;
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
