// Bytes -> Module. Any bytes at all give a Module or a clear error; sizes are
// checked against the bytes there are before memory is taken for them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

// Structure, version, checksums, known opcodes, zero padding. Operand bounds
// and slot states are the verifier's.
Result<Module> Read(std::span<const std::byte> bytes);

// One rank's program, from the header and that rank's section alone: damage
// elsewhere is not looked at. kInput also when the file has no such rank.
Result<RankProgram> ReadRank(std::span<const std::byte> bytes, Rank rank);

// Read + Verify (verifier.h). The message names the file. kMachine when it
// cannot be read, kInput when it does not exist or is not good bytecode.
Result<Module> LoadFile(const std::string& path);

}  // namespace pp::bytecode
