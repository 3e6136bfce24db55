// What `simulate` prints, as text for people and as JSON (interfaces: the keys
// and their order are fixed).
#pragma once

#include <optional>
#include <string>

#include "compiler/driver/session.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"

namespace pp::driver {

// "gpipe P=4 M=8".
std::string Title(const ir::Schedule& schedule);

// `period`: what a step takes in the long run, where that was asked for.
std::string SimulationText(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period);
std::string SimulationJson(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period);

}  // namespace pp::driver
