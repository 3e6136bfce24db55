// Marks exact exchanges, so that both directions start as one group.
//
// Grouped are a->b and b->a that are neighbours in T on both ranks, with no
// computation between: both ends then reach the group together, and neither
// transfer waits longer than alone. Mere neighbours are left alone: grouping
// them makes a transfer wait for a partner it has nothing to do with.
#pragma once

#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/lower/event.h"
#include "compiler/lower/transfers.h"

namespace pp::lower {

void GroupExchanges(uint32_t ranks, const Transfers& transfers,
                    std::vector<Event>& events);

}  // namespace pp::lower
