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

// Read + Verify (verifier.h) of what stands in the file `path`, which the
// message names. kInput when it is not good bytecode.
Result<Module> Load(std::span<const std::byte> bytes, const std::string& path);

// The same, read here too. kMachine when the file cannot be read, kInput when
// it does not exist.
Result<Module> LoadFile(const std::string& path);

}  // namespace pp::bytecode
