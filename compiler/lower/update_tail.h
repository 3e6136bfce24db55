// The flush at the end of a step: scale, reduce, update.
//
// Per rank, chunks in ascending stage order: SCALE each; REDUCE the weights
// that the model may tie over first and last stage, where two ranks hold
// those; UPDATE each. The collective comes after every transfer of its
// members, so that it is the last event of T and nothing waits behind it. It
// is emitted for every model: the engine of one without tied weights has
// nothing to reduce.
#pragma once

#include "runtime/bytecode/module.h"

namespace pp::lower {

// `module` has its chunks and all other instructions of each rank.
void AppendUpdateTail(bytecode::Module& module);

}  // namespace pp::lower
