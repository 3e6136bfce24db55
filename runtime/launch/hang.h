// Why a run does not go on: pure functions of the program and where each rank
// stands in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/bytecode/module.h"

namespace pp::launch {

enum class RankState : uint8_t {
  kStarting,  // the engine is being made
  kRunning,   // in an instruction
  kIdle,      // has ended its program of this step
  kEnded,     // its thread has ended
};

struct RankPlace {
  RankState state = RankState::kStarting;
  uint64_t step = 0;
  uint32_t pc = 0;     // kRunning; kEnded: where it stopped
  double seconds = 0;  // in this instruction
};

// "rank 1: step 0, pc 3 `wait %0` at x.sched:5:3 steady[0], for 2.1 s: waits
// for act s0 m0 from rank 0 on lane 0".
std::string DescribePlace(const bytecode::Module& module, Rank rank,
                          const RankPlace& place);

// Who waits for whom, from the lowest rank that waits to the first cause: a
// rank that has ended without its part, one that is stuck in its work, or a
// circle. One line.
std::string ExplainHang(const bytecode::Module& module,
                        std::span<const RankPlace> places);

}  // namespace pp::launch
