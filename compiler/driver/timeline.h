// The timeline of a simulated schedule as a picture.
#pragma once

#include <cstddef>
#include <string>

#include "compiler/analysis/simulate.h"
#include "compiler/ir/cost_model.h"
#include "compiler/ir/schedule.h"

namespace pp::driver {

struct TerminalStyle {
  bool colour = false;
  size_t columns = 100;  // of the terminal
};

// One row a rank. Where it fits, each operation shows its letter and
// micro-batch; else one character is a slice of time and shows the letter of
// the operation that fills most of it, `.` for idle.
std::string TerminalTimeline(const ir::Schedule& schedule,
                             const analysis::Timeline& timeline,
                             const ir::CostModel& costs,
                             const TerminalStyle& style);

// Chrome trace JSON: one process a rank, names `F s0 m3`. One unit of cost is
// one millisecond of the trace.
std::string ChromeTimeline(const ir::Schedule& schedule,
                           const analysis::Timeline& timeline,
                           const ir::CostModel& costs);

}  // namespace pp::driver
