// Names and places of a module's instructions, for messages.
#pragma once

#include <string>

#include "compiler/analysis/comm_match.h"
#include "compiler/diag/diagnostic.h"
#include "runtime/bytecode/module.h"

namespace pp::check {

using analysis::InstrRef;

// The source line in the debug section; nowhere if it has none.
diag::Location Where(const bytecode::Module& module, InstrRef ref);

// "`SEND act s0 m1` to rank 1", "`F s0 m3`", "`wait %2`".
std::string Name(const bytecode::Module& module, InstrRef ref);

// The same with its place: "... (rank 0, pc 7)".
std::string NameAt(const bytecode::Module& module, InstrRef ref);

// "act s0 m1".
std::string TensorText(const analysis::Tensor& tensor);

}  // namespace pp::check
