// Bytecode -> the schedule of its compute operations (communication left
// out), so that simulate and show work on both.
#pragma once

#include "compiler/ir/schedule.h"
#include "compiler/source/source_manager.h"
#include "runtime/bytecode/module.h"

namespace pp::driver {

// `module` passed bytecode::Verify. Sites keep their phase; their span is
// empty, since the source text is not in the bytecode. kInput when the module
// has replicas, or a stage is on no rank.
Result<ir::Schedule> LiftCompute(const bytecode::Module& module);

}  // namespace pp::driver
