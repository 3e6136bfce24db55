#include "runtime/base/crc32.h"

#include <array>

namespace pp {
namespace {

constexpr uint32_t kReflectedPolynomial = 0xEDB88320;

// Slicing by 16 (Kounavis and Berry, 2005): table k holds the CRC of a byte
// with k zero bytes after it, so that 16 bytes need 16 independent look-ups in
// place of a chain of 16.
constexpr size_t kSlices = 16;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables kTables = [] {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReflectedPolynomial : 0);
    }
    tables[0][i] = value;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[slice - 1][i];
      tables[slice][i] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

uint32_t Slice(uint32_t crc, const std::byte* bytes) {
  uint32_t result = 0;
  for (size_t i = 0; i < kSlices; ++i) {
    uint32_t byte = static_cast<uint32_t>(bytes[i]);
    if (i < sizeof(crc)) byte ^= (crc >> (8 * i)) & 0xFF;
    result ^= kTables[kSlices - 1 - i][byte];
  }
  return result;
}

}  // namespace

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t seed) {
  uint32_t crc = ~seed;
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    crc = Slice(crc, bytes.data());
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(byte)) & 0xFF];
  }
  return ~crc;
}

}  // namespace pp
