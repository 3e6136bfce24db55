// Bytes a rank needs, line by line, under a memory model: what stays for the
// whole step, the slots that bytecode reserves, and the largest sum of
// activations, which follows from the order of operations alone.
#pragma once

#include <vector>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/memory_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "runtime/bytecode/module.h"

namespace pp::analysis {

// By rank. `message` is the size of a slot; 0: not known, slots count nothing.
// A stage's activations of one micro-batch count `act` from F to B or I, and
// `act.after_I` from I to W.
std::vector<ir::RankMemory> PredictMemory(const ir::Schedule& schedule,
                                          const bytecode::Module& module,
                                          const ir::MemoryModel& memory,
                                          ir::Bytes message);

}  // namespace pp::analysis
