// The part of the verifier that looks at one rank's program. Internal.
#pragma once

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode::internal {

// Chunks, counts and debug entries, every operand's bound, then the states of
// slots and stashes. The module's own tables have been checked.
Status VerifyRank(const Module& module, Rank rank);

// States only: operands are known to be in bounds.
Status VerifyStates(const Module& module, Rank rank);

// "rank R, pc N (`text`): cause".
Status InstrError(const Module& module, Rank rank, size_t pc,
                  const std::string& cause);

}  // namespace pp::bytecode::internal
