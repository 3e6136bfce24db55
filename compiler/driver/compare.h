// `ppc compare`: several schedules over a grid of P and M, one row a point:
// what was simulated, and beside it what the schedule's own `expect` lines
// promise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "compiler/expand/expand.h"
#include "compiler/ir/metrics.h"

namespace pp::driver {

struct CompareRow {
  std::string schedule;
  int64_t ranks = 0, micro_batches = 0;
  std::string parameters;  // the others: "v=2"
  std::string refused;     // not empty: why there are no numbers
  uint32_t chunks = 1;     // of a rank
  ir::Metrics metrics;
  expand::Formulas formulas;
  std::optional<ir::Bytes> bytes;  // the largest rank's, where sizes are known
};

// Every file at every (P, M). A point that the schedule refuses is a row that
// says so; anything else that is wrong ends the comparison with its
// diagnostics.
Result<std::vector<CompareRow>> Compare(Session& session);

std::string CompareText(const std::vector<CompareRow>& rows);
std::string CompareJson(const std::vector<CompareRow>& rows);

}  // namespace pp::driver
