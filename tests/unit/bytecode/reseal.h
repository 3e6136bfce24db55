// Damaged files with right checksums, to reach what lies behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pp::bytecode {

uint32_t GetU32(std::span<const std::byte> bytes, size_t offset);
void SetU32(std::span<std::byte> bytes, size_t offset, uint32_t value);

// Where the entry of a section lies in the table.
size_t EntryOffset(size_t section);

// Makes all checksums right that the bytes have room for. Any bytes.
void Reseal(std::span<std::byte> bytes);

}  // namespace pp::bytecode
