// Names and places of a schedule's operations, for messages.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/schedule.h"

namespace pp::check {

// Where the operation is written; the schedule's name if nobody knows.
diag::Location Where(const ir::Schedule& schedule, const ir::Op& op);

// "`F[1]@3 (stage 5)`", with backticks.
std::string Name(const ir::Schedule& schedule, Rank rank, const ir::Op& op);

// " in `steady[3]`": phase and iteration, or nothing.
std::string Phase(const ir::Schedule& schedule, const ir::Op& op);

}  // namespace pp::check
