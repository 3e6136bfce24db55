// Where the stages live at one point.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/diag/diagnostic.h"
#include "compiler/expand/instance.h"
#include "compiler/ir/schedule.h"

namespace pp::expand {

// Every stage 0..S-1 has one home, every rank at least one stage, and a rank
// of n chunks numbers them 0..n-1. nullopt with errors in `diag` otherwise,
// and where the F and B of all stages alone are more than `max_ops`.
std::optional<ir::Placement> Place(Instance& instance, uint64_t max_ops,
                                   diag::Emitter& diag);

}  // namespace pp::expand
