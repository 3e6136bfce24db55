// One point of a schedule -> every rank's operations.
//
// Always ends: loops are counted and bounded, macros do not recurse, and an
// expansion over `max_ops` is an error that says how many were made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "compiler/sema/sema.h"

namespace pp::expand {

struct Point {
  std::vector<std::pair<std::string, int64_t>> values;  // P, M, and -D
};

struct Options {
  uint64_t max_ops = 200'000'000;
};

enum class Outcome {
  kExpanded,
  kRefused,  // a `require` does not hold: the point is not admissible
  kFailed,   // an error of the schedule or of the parameters
};

struct Expansion {
  Outcome outcome = Outcome::kFailed;
  std::optional<ir::Schedule> schedule;  // kExpanded
};

// Errors (also those of kRefused) go to `diag`, with rank, iteration and the
// values of parameters as notes. Faults of different ranks are grouped.
Expansion Expand(const sema::CheckedSchedule& schedule, const Point& point,
                 const Options& options, diag::Emitter& diag);

// Evaluates the `expect` lines against what was simulated. Each that fails is
// PP5001 with both values, the point, and the rank where it names one.
// Returns how many were evaluated (their `when` held).
size_t CheckExpectations(const sema::CheckedSchedule& schedule,
                         const Point& point, const ir::Schedule& expanded,
                         const ir::Metrics& metrics, const ir::CostModel& costs,
                         diag::Emitter& diag);

// What the `expect WORD == FORMULA` lines promise at this point, worked out
// from the right side alone, to be shown beside what was simulated. A word
// without such a line (or whose `when` does not hold) has no value.
struct Formulas {
  std::optional<int64_t> bubble, makespan;  // in ticks
  std::optional<int64_t> messages;
  std::optional<int64_t> live;  // the largest over the ranks, in chunks
};
Formulas EvaluateFormulas(const sema::CheckedSchedule& schedule,
                          const Point& point, const ir::Metrics& metrics,
                          const ir::CostModel& costs);

}  // namespace pp::expand
