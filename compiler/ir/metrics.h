// What a simulated (or counted) schedule came to. Filled by analysis/, read
// by `expect` lines, by the driver and by emit.
//
// Bubble conventions (all three are printed, each with its name):
//   bubble_fraction      idle / (P * makespan), = (P-1)/(M+P-1) for GPipe
//   bubble_overhead      idle / work; Megatron-LM's (P-1)/M
//                        (Narayanan et al. 2021, section 2.2)
//   bubble_longest_stage (c - w) / c with c = the longest time from a rank's
//                        own first start to its own last end and w the work
//                        of a rank (largest); Zero Bubble's metric (Qi et al.
//                        2024, section 5.1)
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/cost_model.h"

namespace pp::ir {

// Bytes of a rank. The slots are reserved for the whole step and activations
// peak once, so the sum is what the rank needs at most.
struct RankMemory {
  Bytes weights = 0;
  Bytes gradients = 0;
  Bytes optimizer = 0;
  Bytes activations = 0;    // most alive at once
  Bytes receive_slots = 0;  // slots that messages arrive in
  Bytes send_slots = 0;     // all other boundary tensors
  size_t peak_at = 0;       // the operation that `activations` peak at

  Bytes Total() const {
    return weights + gradients + optimizer + activations + receive_slots +
           send_slots;
  }
};

struct EdgeMetrics {
  uint32_t from = 0, to = 0;  // ranks
  uint64_t messages = 0;
};

struct RankMetrics {
  Ticks busy = 0;
  Ticks first_start = 0;
  Ticks last_end = 0;
  uint32_t peak_activations = 0;  // (stage, micro-batch) pairs alive at once:
                                  // from F to B, or to W where split
  uint64_t messages_sent = 0;
};

struct Metrics {
  Ticks makespan = 0;  // last end - first start over all ranks
  Ticks work = 0;      // largest over ranks of busy
  Ticks bubble = 0;    // largest over ranks of makespan - busy
  double bubble_fraction = 0;
  double bubble_overhead = 0;
  double bubble_longest_stage = 0;
  uint64_t messages = 0;
  std::vector<RankMetrics> ranks;
  std::vector<EdgeMetrics> edges;  // by (from, to), those with messages
};

// Steps one after the other without a barrier: a rank begins the next step as
// soon as it has ended its own part of the last. In the long run a step takes
// `time` / `steps`, exactly (the schedule's max-plus cycle time).
struct Period {
  Ticks time = 0;
  uint64_t steps = 1;
  bool settled = true;  // false: the average over the steps simulated
};

}  // namespace pp::ir
