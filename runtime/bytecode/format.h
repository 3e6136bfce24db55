// Constants of the file layout that writer and reader share. Internal; drawn
// in FORMAT.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/status.h"
#include "runtime/bytecode/instr.h"

namespace pp::bytecode::format {

// As in PNG: the first byte is not ASCII, CR LF and LF show what a transfer in
// text mode did to the file.
inline constexpr std::array<unsigned char, 8> kMagic = {0x7F, 'P',  'P',  'B',
                                                        '\r', '\n', 0x1A, '\n'};

inline constexpr size_t kVersionOffset = 8;
inline constexpr size_t kHeaderCrcOffset = 28;
inline constexpr size_t kHeaderBytes = 32;
inline constexpr size_t kSectionEntryBytes = 32;
inline constexpr size_t kSectionAlignment = 16;

enum class SectionKind : uint32_t {
  kModule = 1,  // counts and groups
  kFacts = 2,
  kSites = 3,
  kRank = 4,  // one per rank, in order
};
// Sections before those of the ranks.
inline constexpr uint32_t kFixedSections = 3;

inline constexpr size_t kRankHeadBytes = 32;
inline constexpr size_t kDebugBytes = 8;
inline constexpr size_t kChunkBytes = 8;

// Operands as bytes, in the order of the table, to `out` of kInstrBytes for
// each. kInput names the pc and the operand that does not fit its field.
Status Encode(std::span<const Instr> code, std::span<std::byte> out);
// Fills `code` from kInstrBytes for each. kInput names the pc: no such opcode,
// or padding that is not zero.
Status Decode(std::span<const std::byte> bytes, std::span<Instr> code);

// "module", "facts", "sites", "rank 3".
std::string SectionName(uint32_t index);

}  // namespace pp::bytecode::format
