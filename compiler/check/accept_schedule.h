// Whether a schedule passes all of its checks, and nothing else: the answer
// for the many that do. One walk over the operations, a byte for each (stage,
// micro-batch) and no other memory that grows. False is no verdict: the checks
// of checks.def then find out what is wrong, if anything is.
#pragma once

#include "compiler/ir/schedule.h"

namespace pp::check {

// True only if Coverage, Order and Cycles all pass. Linear.
bool AcceptsSchedule(const ir::Schedule& schedule);

}  // namespace pp::check
