// What a `block` leaves idle while the pipeline fills and drains.
//
// Private to expand/.
#pragma once

#include <vector>

#include "compiler/ir/schedule.h"

namespace pp::expand {

// Runs the schedule slot by slot, F, I and W one slot long and B two, transfers
// free. A rank with `movable` that would idle runs, of its operations in order,
// the first one whose input is there; an F only if running it early never makes
// the rank hold more activations than its order as laid out does. A W gives way
// to an I behind it that no F stands before. The order in which the ranks run
// is their new order. For V-Half and V-Min (Qi et al., 2024) this gives the
// bubbles that are published.
//
// Linear in the number of operations, times what ranks look ahead while they
// idle. If ranks wait in a circle, what is left keeps its order.
void Squeeze(ir::Schedule& schedule, const std::vector<bool>& movable);

}  // namespace pp::expand
