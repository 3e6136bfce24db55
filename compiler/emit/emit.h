// Writes into a module what the compiler knows about it: where it came from,
// what was promised. Bytes are bytecode::Write's, files pp::WriteFile's.
#pragma once

#include <string>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "compiler/source/source_manager.h"
#include "runtime/bytecode/module.h"

namespace pp::emit {

// Fills module.facts. Times are in the unit of the cost model. Hashes are
// SHA-256 in hex: of the canonical cost text, and of the source, so that
// `sha256sum FILE` gives the same; where the schedule's operations come from
// several files, of the hex hashes of their texts one after another, in the
// order in which the files were read. Empty for a schedule without a file.
void FillFacts(bytecode::Module& module, const ir::Schedule& schedule,
               const ir::Metrics& metrics, const ir::CostModel& costs,
               const source::SourceManager& sources);

std::string CompilerVersion();  // "ppc 0.1.0"

}  // namespace pp::emit
