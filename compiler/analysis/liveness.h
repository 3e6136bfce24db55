// Activations alive, from the order of operations alone: durations do not
// change it.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"

namespace pp::analysis {

// By rank: most (stage, micro-batch) pairs alive at once. A pair lives from
// its F to its B, or to its W where the backward is split.
std::vector<uint32_t> PeakActivations(const ir::Schedule& schedule);

}  // namespace pp::analysis
