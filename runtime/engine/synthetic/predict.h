// Bytes of slots and stashes along a rank's program, in program order.
#pragma once

#include "runtime/bytecode/module.h"

namespace pp::engine::synthetic {

struct Sizes {
  uint64_t message;      // of a full slot, from compute or WAIT to FREE
  uint64_t activation;   // of a stash from F on
  uint64_t after_input;  // of a stash from I to W
};

// The most bytes held at once. Exact for a transport that takes no memory of
// its own: a slot counts from when its data is there until FREE.
uint64_t PredictPeak(const bytecode::RankProgram& program, const Sizes& sizes);

}  // namespace pp::engine::synthetic
