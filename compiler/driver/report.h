// What `ppc simulate` prints: a table for a person, or one JSON object.
#pragma once

#include <string>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"

namespace pp::driver {

std::string SimulationText(const ir::Schedule& schedule,
                           const ir::Metrics& metrics,
                           const ir::CostModel& costs);
std::string SimulationJson(const ir::Schedule& schedule,
                           const ir::Metrics& metrics,
                           const ir::CostModel& costs);

// "one_f_one_b P=4 M=8".
std::string Title(const ir::Schedule& schedule);

}  // namespace pp::driver
