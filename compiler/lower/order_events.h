// Chooses T, the order of all events, by simulating the schedule.
//
// A discrete-event simulation of the strict machine under the cost model: a
// computation starts when its rank is free and its input is there; a transfer
// when its tensor is computed, a receive slot of its channel is free and no
// other transfer runs at either end (a rank's communication is one queue).
// a->b and b->a that can both start do so together, as one exchange. Of
// several, the transfer starts whose receiver needs it soonest. T lists the
// events as the simulation meets them, so it is a topological order of D:
//   computation  at its end: communication that starts while it runs is
//                issued before it, since a rank that computes cannot issue.
//                An overlapped pair is one computation: it starts when both
//                inputs are there, and both results leave at its end
//   transfer     at its start
//   sent         at the transfer's end
// At equal times: ends before what they allow, transfers before computations,
// then rank, then micro-batch.
//
// Planned latency: at least 1/8 of the cheapest operation. A plan in which
// transfers are free posts each receive when it is needed, and is 4-11 %
// slower than this one (interleaved, P=8, M=16, v=2) where a transfer really
// takes 0.1-0.25 of a forward; where it takes nothing, both are equal.
//
// Receive slots: Options::receive_slots per channel. Where all ranks wait and
// only slots are missing, the channel of the first rank's next input gets one
// more: no order of the programs could do without it at that point.
#pragma once

#include "compiler/ir/cost_model.h"
#include "compiler/ir/schedule.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/transfers.h"
#include "compiler/lower/work_index.h"
#include "runtime/base/status.h"

namespace pp::lower {

// kInput: the operations wait for each other (check/ reports the cycle), or
// the sum of all costs does not fit into Ticks.
Result<Plan> OrderEvents(const ir::Schedule& schedule,
                         const ir::CostModel& costs, const Transfers& transfers,
                         const WorkIndex& index, const Options& options);

}  // namespace pp::lower
