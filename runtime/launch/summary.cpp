#include "runtime/launch/summary.h"

#include <algorithm>
#include <functional>

#include "runtime/trace/profile.h"

namespace pp::launch {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : (values[middle - 1] + values[middle]) / 2;
}

std::span<const StepRecord> Timed(const RunResult& result) {
  const std::span<const StepRecord> all(result.steps);
  if (all.empty()) return all;
  return all.subspan(std::min<size_t>(result.warmup, all.size() - 1));
}

double MedianOf(std::span<const StepRecord> steps,
                const std::function<double(const StepRecord&)>& value) {
  std::vector<double> values;
  for (const StepRecord& step : steps) values.push_back(value(step));
  return Median(std::move(values));
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

RankSummary SummarizeRank(const bytecode::Module& module,
                          const RunResult& result, size_t rank) {
  RankSummary summary;
  const auto timed = Timed(result);
  summary.busy_s = MedianOf(timed, [&](const StepRecord& step) {
    return Seconds(step.summary.busy_ns[rank]);
  });
  summary.idle_s = MedianOf(timed, [&](const StepRecord& step) {
    return Seconds(step.summary.idle_ns[rank]);
  });
  for (const StepRecord& step : result.steps) {
    summary.peak_activations =
        std::max(summary.peak_activations, step.peak_activations[rank]);
  }
  const auto& predicted = module.facts.peak_activations;
  if (rank < predicted.size()) {
    summary.peak_activations_predicted = predicted[rank];
  }
  if (rank < result.memory.size()) summary.memory = result.memory[rank];
  summary.instructions = module.programs[rank].code.size();
  return summary;
}

}  // namespace

bool IsNoisy(const RunSummary& summary) {
  return summary.steps_timed >= 4 && summary.makespan_spread > kMostSpread;
}

RunSummary SummarizeRun(const bytecode::Module& module,
                        const RunResult& result) {
  RunSummary summary;
  const auto timed = Timed(result);
  summary.steps_timed = timed.size();
  summary.step_time_s =
      MedianOf(timed, [](const StepRecord& step) { return step.seconds; });
  summary.makespan_s = MedianOf(timed, [](const StepRecord& step) {
    return Seconds(step.summary.makespan_ns);
  });
  std::vector<int64_t> makespans;
  for (const StepRecord& step : timed) {
    makespans.push_back(step.summary.makespan_ns);
  }
  summary.makespan_spread = trace::Summarize(std::move(makespans)).spread;
  summary.bubble_fraction = MedianOf(timed, [](const StepRecord& step) {
    return step.summary.bubble_fraction;
  });
  summary.bubble_overhead = MedianOf(timed, [](const StepRecord& step) {
    return step.summary.bubble_overhead;
  });
  summary.bubble_longest_stage = MedianOf(timed, [](const StepRecord& step) {
    return step.summary.bubble_longest_stage;
  });
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    summary.ranks.push_back(SummarizeRank(module, result, rank));
    const RankSummary& one = summary.ranks.back();
    const bool promised = rank < module.facts.peak_activations.size();
    if (promised && !result.steps.empty() &&
        one.peak_activations != one.peak_activations_predicted) {
      summary.peak_mismatches.push_back(rank);
    }
  }
  return summary;
}

double StageUnitsPerChunk(const bytecode::Module& module) {
  return static_cast<double>(module.ranks()) /
         static_cast<double>(std::max(1u, module.stages));
}

}  // namespace pp::launch
