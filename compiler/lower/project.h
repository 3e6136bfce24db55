// The plan of a rank -> its instructions, with slots and stashes assigned.
//
//   computation   WAIT in (if received); the instruction; FREE in
//   send          SEND
//   receive       RECV into a new slot
//   sent          WAIT, FREE on the sender, one computation later
//   group marks   GROUP_BEGIN before the first, GROUP_END after the last
//
// Why one computation later: T is ideal, a real receiver may be late, and a
// sender that waited at once would be late with it. Later is always safe (no
// event depends on the release of a send slot but later numbering), and costs
// one slot at most.
#pragma once

#include "compiler/ir/schedule.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/transfers.h"
#include "compiler/lower/work_index.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::lower {

// Replaces code, debug, slots and stashes of `program`. kInput when the rank
// needs more slots than an instruction can name.
Status Project(const ir::Schedule& schedule, const Transfers& transfers,
               const WorkIndex& index, Rank rank, const RankPlan& plan,
               bytecode::RankProgram& program);

}  // namespace pp::lower
