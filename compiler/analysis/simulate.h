// Exact event-driven time of an expanded schedule under a cost model, with
// transfers that overlap with compute and each other. Linear in the number of
// operations.
#pragma once

#include <vector>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"

namespace pp::analysis {

struct Timeline {
  // [rank][op]: start; it lasts for CostModel::Shown. An overlapped pair is
  // one piece of work whose two results are there at its end.
  std::vector<std::vector<ir::Ticks>> start;
};

// `schedule` has no dependency cycle and is complete (check/ said so).
ir::Metrics Simulate(const ir::Schedule& schedule, const ir::CostModel& costs,
                     Timeline* timeline = nullptr);

// What a step takes in the long run where no barrier stands between steps.
// The time between the ends of a rank's steps becomes periodic; it is found by
// simulating until the ranks' ends repeat up to a shift (Period::settled), for
// at most `max_steps`.
ir::Period SimulatePeriod(const ir::Schedule& schedule,
                          const ir::CostModel& costs,
                          uint64_t max_steps = 1000);

}  // namespace pp::analysis
