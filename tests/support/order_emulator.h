// The same for a schedule of compute operations: every rank runs its
// operations in order, results reach other ranks by themselves. The judge over
// CheckSchedule; shares no code with it.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/schedule.h"

namespace pp::testing {

struct OrderOutcome {
  bool finished = false;
  std::vector<std::string> wrong;  // what is not run exactly once
  bool ok() const { return finished && wrong.empty(); }
};

OrderOutcome EmulateOrder(const ir::Schedule& schedule);

}  // namespace pp::testing
