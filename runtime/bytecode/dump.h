// `ppc dump`: header, facts, disassembly and annotated hex, for a person.
#pragma once

#include <optional>
#include <ostream>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

struct DumpOptions {
  std::optional<Rank> rank;  // only this rank
  bool hex = false;          // annotated bytes of the file instead
};

Status Dump(const Module& module, const DumpOptions& options,
            std::ostream& out);

}  // namespace pp::bytecode
