#include "tests/unit/bytecode/reseal.h"

#include <algorithm>

#include "runtime/base/crc32.h"
#include "runtime/bytecode/format.h"

namespace pp::bytecode {

uint32_t GetU32(std::span<const std::byte> bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

void SetU32(std::span<std::byte> bytes, size_t offset, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) {
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

size_t EntryOffset(size_t section) {
  return format::kHeaderBytes + format::kSectionEntryBytes * section;
}

void Reseal(std::span<std::byte> bytes) {
  if (bytes.size() < format::kHeaderBytes) return;
  const size_t room =
      (bytes.size() - format::kHeaderBytes) / format::kSectionEntryBytes;
  const size_t sections = std::min<size_t>(GetU32(bytes, 12), room);
  for (size_t i = 0; i < sections; ++i) {
    const size_t entry = EntryOffset(i);
    const size_t offset = GetU32(bytes, entry + 8);
    const size_t size = GetU32(bytes, entry + 16);
    if (offset > bytes.size() || size > bytes.size() - offset) continue;
    SetU32(bytes, entry + 24, Crc32(bytes.subspan(offset, size)));
  }
  SetU32(bytes, format::kHeaderCrcOffset, 0);
  SetU32(bytes, format::kHeaderCrcOffset,
         Crc32(bytes.first(EntryOffset(sections))));
}

}  // namespace pp::bytecode
