// A compute instruction as the operation of a schedule that it is.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/schedule.h"
#include "runtime/bytecode/instr.h"

namespace pp::analysis {

struct ComputeRef {
  ir::OpKind kind;
  uint32_t chunk;
  uint32_t mb;
};

// nullopt for an instruction that computes no part of a micro-batch.
std::optional<ComputeRef> ComputeOf(const bytecode::Instr& instr);

// And back: it reads `in`, writes `out` (kNoSlot: none) and keeps `stash`.
bytecode::Instr ComputeInstr(const ComputeRef& what, SlotId in, SlotId out,
                             StashId stash);

}  // namespace pp::analysis
