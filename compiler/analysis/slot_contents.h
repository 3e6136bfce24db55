// What each slot holds, followed symbolically along each rank's program, and
// where that is not what is asked of it. A RECV is believed: that its partner
// sends the same is a question to the matching. Linear.
#pragma once

#include <optional>
#include <vector>

#include "compiler/analysis/comm_match.h"

namespace pp::analysis {

struct Misfit {
  InstrRef at;                  // a SEND or a compute instruction
  Tensor wanted;                // what it says or needs
  std::optional<Tensor> found;  // what its slot holds
  InstrRef from;                // who put it there; `at` if nobody did
};

// In the order of ranks and instructions.
std::vector<Misfit> FindMisfits(const bytecode::Module& module);

}  // namespace pp::analysis
