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
  Ticks bubble = 0;    // largest over ranks of makespan - busy
  double bubble_fraction = 0;
  double bubble_overhead = 0;
  double bubble_longest_stage = 0;
  uint64_t messages = 0;
  std::vector<RankMetrics> ranks;
};

}  // namespace pp::ir
