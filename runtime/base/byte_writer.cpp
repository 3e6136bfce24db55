#include "runtime/base/byte_writer.h"

namespace pp {

void ByteWriter::Pad(size_t alignment) {
  const size_t rest = bytes_.size() % alignment;
  if (rest == 0) return;
  Note(alignment - rest, "padding");
  bytes_.resize(bytes_.size() + alignment - rest);
}

void ByteWriter::PatchU32(size_t offset, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) {
    bytes_[offset + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

}  // namespace pp
