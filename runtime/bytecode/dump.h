// `ppc dump`: header, facts, disassembly and annotated hex, for a person.
#pragma once

#include <optional>
#include <ostream>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

struct DumpOptions {
  std::optional<Rank> rank = std::nullopt;  // only this rank
  bool hex = false;  // annotated bytes of the file instead
};

// kUsage: there is no such rank. kInput, with `hex`: the module cannot be
// written (writer.h). Any module can be dumped, verified or not.
Status Dump(const Module& module, const DumpOptions& options,
            std::ostream& out);

}  // namespace pp::bytecode
