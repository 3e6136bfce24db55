// The bytes of a module's file, each field with what it says. Internal.
#pragma once

#include <optional>
#include <ostream>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode::internal {

// The whole file, or the section of one rank that there is.
Status DumpHex(const Module& module, std::optional<Rank> rank,
               std::ostream& out);

}  // namespace pp::bytecode::internal
