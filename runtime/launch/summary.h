// What is told at the end of a run: one set of numbers, from which the table
// and run.json are both made.
//
// Times are medians over the steps without the first (or --warmup), which warms
// up caches, allocators and threads (one step alone: that one). Peaks are the
// largest of all steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/launch/run.h"

namespace pp::launch {

struct RankSummary {
  double busy_s = 0;
  double idle_s = 0;
  uint32_t peak_activations = 0;            // counted in chunks
  uint32_t peak_activations_predicted = 0;  // likewise; from the compile
  engine::MemoryReport memory;
  uint64_t instructions = 0;  // a step
};

struct RunSummary {
  double step_time_s = 0;
  double makespan_s = 0;  // first begin to last end of compute
  double bubble_fraction = 0;
  double bubble_overhead = 0;
  double bubble_longest_stage = 0;
  uint64_t steps_timed = 0;  // over which the medians are taken
  // Third less first quartile of the steps' makespans, over their median.
  double makespan_spread = 0;
  std::vector<RankSummary> ranks;
  // Ranks whose counted peak is not the one that the compile promised.
  std::vector<uint32_t> peak_mismatches;
};

// Whether the steps differ so much that their median says little: a spread
// over kMostSpread, of four steps or more.
inline constexpr double kMostSpread = 0.15;
bool IsNoisy(const RunSummary& summary);

RunSummary SummarizeRun(const bytecode::Module& module,
                        const RunResult& result);

// A chunk is 1 / (stages / ranks) of what a rank of an unchunked schedule
// holds: counts of chunks times this are "stage units".
double StageUnitsPerChunk(const bytecode::Module& module);

}  // namespace pp::launch
