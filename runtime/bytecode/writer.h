// Module -> bytes of a `.ppb` file. The same module gives the same bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/byte_writer.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

// A described range of the written bytes, for the annotated hex dump.
using FieldNote = ByteNote;

// `notes`, when given, receives one entry per field in order. An operand or
// count that does not fit its field is kInput and names it.
Result<std::vector<std::byte>> Write(const Module& module,
                                     std::vector<FieldNote>* notes = nullptr);

}  // namespace pp::bytecode
