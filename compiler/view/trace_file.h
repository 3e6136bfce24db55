// A measured run, from the Chrome trace that `pprun --trace` wrote, laid
// beside the simulation of the same schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/view/picture.h"
#include "runtime/base/status.h"

namespace pp::view {

// Fills the measured rows from one step of the trace: `step`, else the one of
// median makespan without the first, which warms up. Where costs have no unit,
// measured times are stretched so that the work of all ranks is the same as
// simulated; the caption says so. kInput with `name` and the cause: no JSON,
// not a trace of pprun's, another schedule or number of ranks, an operation
// that the simulation does not have or that is missing, a step that is not
// there.
Status AddMeasured(std::string_view json, const std::string& name,
                   std::optional<uint64_t> step, Picture* picture);

}  // namespace pp::view
