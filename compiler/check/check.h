// The checks. What passes cannot hang and computes each gradient once; what
// fails really would hang or be wrong, and the message says where and why.
//
// CheckSchedule judges a `.sched` at one point (compute order only: every
// cycle it reports is a fault of the schedule). CheckModule judges bytecode,
// with its communication, under the `strict` tier: one serial device queue a
// rank, rendezvous sends, finite slots, groups all-or-nothing. It is the gate
// for everything ppc emits, and does not trust the lowering.
#pragma once

#include <optional>
#include <vector>

#include "compiler/analysis/module_graph.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "runtime/bytecode/module.h"

namespace pp::check {

// True: no error was emitted. Reports completeness (missing, doubled, with
// compressed sets), order on one rank (B before its F, W before its I) and
// cycles over ranks (the shortest, one located note per hop).
bool CheckSchedule(const ir::Schedule& schedule, diag::Emitter& diag);

// Whether every rank stays below `limit` bytes (nullopt: there is none).
// `memory` by rank, as analysis::PredictMemory says. Reports each rank that
// does not: what it keeps, line by line, when, and what is alive then.
bool CheckMemory(const ir::Schedule& schedule,
                 const std::vector<ir::RankMemory>& memory,
                 std::optional<ir::Bytes> limit, diag::Emitter& diag);

// `module` passed bytecode::Verify. Under assumptions weaker than the default
// a program may pass that hangs on a real machine.
bool CheckModule(const bytecode::Module& module, diag::Emitter& diag,
                 const analysis::Assumptions& assumptions = {});

}  // namespace pp::check
