// The same for a schedule of compute operations: every rank runs its
// operations in order, results reach other ranks by themselves. The judge over
// CheckSchedule; shares no code with it.
#pragma once

#include <map>
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

// Of activations or gradients from one rank to another.
struct Direction {
  uint32_t from, to;
  bool forward;
  friend auto operator<=>(const Direction&, const Direction&) = default;
};

// The same where tensors travel: each direction in the order in which they are
// computed, into `slots` buffers, each free again when it has been read. True:
// it comes to its end. The schedule is complete.
bool RunsWithSlots(const ir::Schedule& schedule,
                   const std::map<Direction, uint32_t>& slots);

}  // namespace pp::testing
