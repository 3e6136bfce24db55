// What a step came to, from when each rank worked.
//
// The three bubble metrics are those of the simulator, over measured times:
//   bubble_fraction      idle / (P * makespan), = (P-1)/(M+P-1) for GPipe
//   bubble_overhead      idle / work; Megatron-LM's (P-1)/M
//                        (Narayanan et al. 2021, section 2.2)
//   bubble_longest_stage (c - w) / c with c = the longest time from a rank's
//                        own first start to its own last end and w the work
//                        of a rank (largest); Zero Bubble's metric (Qi et al.
//                        2024, section 5.1)
// Work is the time in compute instructions; waiting, scale, reduce and update
// are not. All are 0 where nothing was computed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/trace/event.h"

namespace pp::trace {

inline constexpr std::string_view kBubbleFractionMeaning =
    "idle / (P x makespan)";
inline constexpr std::string_view kBubbleOverheadMeaning =
    "idle / work (Megatron-LM)";
inline constexpr std::string_view kBubbleLongestStageMeaning =
    "(c - w) / c, c = longest rank (Zero Bubble)";

// When one rank worked in one step. begin == end: it did not.
struct RankSpan {
  int64_t begin_ns = 0;  // of its first compute instruction
  int64_t end_ns = 0;    // of its last one
  int64_t busy_ns = 0;   // in compute instructions
};

struct Summary {
  int64_t makespan_ns = 0;  // last end - first begin over all ranks
  double bubble_fraction = 0;
  double bubble_overhead = 0;
  double bubble_longest_stage = 0;
  std::vector<int64_t> busy_ns;  // by rank
  std::vector<int64_t> idle_ns;  // by rank: makespan - busy
};

Summary Summarize(std::span<const RankSpan> ranks);

// The span of each rank in `step`, from its events.
std::vector<RankSpan> SpansOf(std::span<const RankTrace> traces, uint32_t step);

}  // namespace pp::trace
