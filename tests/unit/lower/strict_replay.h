// Runs a module by the rules of the strict tier, with time.
//
// A host issues its program in order; a computation takes its cost. SEND and
// RECV enter the one serial queue of their rank; a transfer starts when both
// ends are at the head of their queues (rendezvous) and takes costs.comm; a
// group is one entry whose transfers run side by side. WAIT stops the host.
// Slots and messages carry what they hold, so a wrong tensor is seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/cost_model.h"
#include "runtime/bytecode/module.h"

namespace pp::testing {

struct Replay {
  std::string fault;  // empty: all ranks reached their end
  ir::Ticks makespan = 0;
  // Most slots of any (source, destination, payload) between RECV and FREE.
  uint32_t receive_slots = 0;
  uint64_t groups = 0;
};

Replay RunStrict(const bytecode::Module& module, const ir::CostModel& costs);

}  // namespace pp::testing
