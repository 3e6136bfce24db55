// Bounds-checked little-endian reading.
//
// The first failure sticks: later reads give zeros and empty spans, and
// status() says what was missing, so that a sequence of fields needs one
// check. Loops over a count must come from Count(), which bounds it by the
// bytes that are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace pp {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  size_t remaining() const { return bytes_.size() - position_; }

  uint32_t U32(std::string_view what);
  uint64_t U64(std::string_view what);
  double F64(std::string_view what);
  std::span<const std::byte> Bytes(size_t size, std::string_view what);
  // A 32-bit count of things of at least `bytes_each` bytes that follow; 0
  // after a failure.
  uint32_t Count(size_t bytes_each, std::string_view what);
  // Checks that `count` things of `bytes_each` bytes can follow.
  bool Fits(uint64_t count, size_t bytes_each, std::string_view what);
  // A 32-bit length and as many bytes.
  std::string Text(std::string_view what);
  // All that is left is fewer than `alignment` zeros.
  void ExpectPadding(size_t alignment);

  // Records a failure found by the caller.
  void Fail(std::string message);

 private:
  uint64_t Word(size_t size, std::string_view what);

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  Status status_;
};

}  // namespace pp
