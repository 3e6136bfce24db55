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

// One row a rank, idle time as `.`. Where it fits, each operation shows its
// letter, chunk and micro-batch; else each column shows the letter of the
// operation in the middle of its slice of time.
std::string TerminalTimeline(const ir::Schedule& schedule,
                             const analysis::Timeline& timeline,
                             const ir::CostModel& costs,
                             const TerminalStyle& style);

}  // namespace pp::driver
