// Receive slots: how many buffers for arriving tensors a schedule needs.
//
// Frameworks send a tensor when it is computed, in that order, into a fixed
// number of buffers for each (source, destination, activations or gradients).
// With too few, a rank waits for a tensor that stands behind others which it
// reads only later: it hangs, though the schedule itself is right.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"

namespace pp::analysis {

struct ReceiveSlots {
  Rank from;
  Rank to;
  bool forward = true;  // activations; else gradients
  uint32_t least = 1;   // with one fewer the schedule hangs
};

// By (from, to, activations first), those that carry anything. `schedule` has
// passed CheckSchedule. Linear, but for sorting the channels.
//
// A rank reads its k-th tensor of a channel when all that were sent up to it
// have come; those of them that it has not read yet each hold a slot.
std::vector<ReceiveSlots> LeastReceiveSlots(const ir::Schedule& schedule);

}  // namespace pp::analysis
