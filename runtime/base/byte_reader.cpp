#include "runtime/base/byte_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace pp {

uint64_t ByteReader::Word(size_t size, std::string_view what) {
  uint64_t value = 0;
  const std::span<const std::byte> bytes = Bytes(size, what);
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

uint32_t ByteReader::U32(std::string_view what) {
  return static_cast<uint32_t>(Word(4, what));
}

uint64_t ByteReader::U64(std::string_view what) { return Word(8, what); }

double ByteReader::F64(std::string_view what) {
  return std::bit_cast<double>(Word(8, what));
}

std::span<const std::byte> ByteReader::Bytes(size_t size,
                                             std::string_view what) {
  if (!ok()) return {};
  if (size > remaining()) {
    Fail(
        fmt::format("{}: {} bytes expected, {} left", what, size, remaining()));
    return {};
  }
  const auto part = bytes_.subspan(position_, size);
  position_ += size;
  return part;
}

uint32_t ByteReader::Count(size_t bytes_each, std::string_view what) {
  const uint32_t count = U32(what);
  return ok() && Fits(count, bytes_each, what) ? count : 0;
}

bool ByteReader::Fits(uint64_t count, size_t bytes_each,
                      std::string_view what) {
  if (!ok()) return false;
  if (count <= remaining() / bytes_each) return true;
  Fail(fmt::format("{}: {} of {} bytes each expected, {} bytes left", what,
                   count, bytes_each, remaining()));
  return false;
}

std::string ByteReader::Text(std::string_view what) {
  const uint32_t size = Count(1, what);
  const std::span<const std::byte> bytes = Bytes(size, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void ByteReader::ExpectPadding(size_t alignment) {
  if (!ok()) return;
  const auto rest = bytes_.subspan(position_);
  if (rest.size() >= alignment) {
    Fail(fmt::format("{} bytes after the last field", rest.size()));
  } else if (std::ranges::any_of(
                 rest, [](std::byte b) { return b != std::byte{0}; })) {
    Fail("padding is not zero");
  }
}

void ByteReader::Fail(std::string message) {
  if (ok()) status_ = InputError(std::move(message));
}

}  // namespace pp
