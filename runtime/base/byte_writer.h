// Little-endian bytes, each field with a description.
//
// Descriptions are fmt formats; they are rendered only when somebody asked for
// notes (the annotated hex of `ppc dump --hex`).
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pp {

// A described range of the written bytes.
struct ByteNote {
  size_t offset;
  size_t size;
  std::string text;
};

class ByteWriter {
 public:
  explicit ByteWriter(std::vector<ByteNote>* notes = nullptr) : notes_(notes) {}

  // Notes are kept: descriptions that cost something are worth making.
  bool annotated() const { return notes_ != nullptr; }
  std::vector<std::byte> Take() && { return std::move(bytes_); }
  std::span<const std::byte> bytes() const { return bytes_; }

  template <class... Args>
  void U32(uint32_t value, fmt::format_string<Args...> what, Args&&... args) {
    Note(4, what, std::forward<Args>(args)...);
    AppendWord(value, 4);
  }
  template <class... Args>
  void U64(uint64_t value, fmt::format_string<Args...> what, Args&&... args) {
    Note(8, what, std::forward<Args>(args)...);
    AppendWord(value, 8);
  }
  // IEEE 754 binary64.
  template <class... Args>
  void F64(double value, fmt::format_string<Args...> what, Args&&... args) {
    Note(8, what, std::forward<Args>(args)...);
    AppendWord(std::bit_cast<uint64_t>(value), 8);
  }
  template <class... Args>
  void Bytes(std::span<const std::byte> data, fmt::format_string<Args...> what,
             Args&&... args) {
    Note(data.size(), what, std::forward<Args>(args)...);
    bytes_.insert(bytes_.end(), data.begin(), data.end());
  }

  // `size` bytes to be filled in by the caller at once; no note.
  std::span<std::byte> Append(size_t size) {
    bytes_.resize(bytes_.size() + size);
    return std::span(bytes_).last(size);
  }

  // Room for `size` bytes more.
  void Reserve(size_t size) { bytes_.reserve(bytes_.size() + size); }

  // Zeros until the size is a multiple of `alignment`.
  void Pad(size_t alignment);

  // Overwrites four bytes written before.
  void PatchU32(size_t offset, uint32_t value);

 private:
  template <class... Args>
  void Note(size_t size, fmt::format_string<Args...> what, Args&&... args) {
    if (notes_ == nullptr || size == 0) return;
    notes_->push_back(
        {bytes_.size(), size, fmt::format(what, std::forward<Args>(args)...)});
  }
  void AppendWord(uint64_t value, size_t bytes) {
    const size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    for (size_t i = 0; i < bytes; ++i) {
      bytes_[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
  }

  std::vector<std::byte> bytes_;
  std::vector<ByteNote>* notes_;
};

}  // namespace pp
