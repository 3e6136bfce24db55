// The flush at the end of a step: scale, reduce, update.
//
// Per rank, chunks in ascending stage order: SCALE each; REDUCE the weights
// that the model may tie over first and last stage, where two ranks hold
// those; UPDATE each. The collective comes after every transfer of its
// members, so that it is the last event of T and nothing waits behind it. It
// is emitted for every model: the engine of one without tied weights has
// nothing to reduce.
#pragma once

#include <optional>

#include "runtime/bytecode/module.h"

namespace pp::lower {

// Adds the group of the weights that may be tied over first and last stage, if
// two ranks hold those. `module` has its chunks.
std::optional<GroupId> AddTiedGroup(bytecode::Module& module);

// To the program of `rank` that has all its other instructions. `tied` is the
// group that was added to `frame`, if any.
void AppendUpdateTail(const bytecode::Module& frame,
                      std::optional<GroupId> tied, Rank rank,
                      bytecode::RankProgram& program);

// All of the above for a module that has all other instructions.
void AppendUpdateTail(bytecode::Module& module);

}  // namespace pp::lower
