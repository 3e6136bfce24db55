#include "runtime/engine/synthetic/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace pp::engine::synthetic {
namespace {

constexpr uint64_t kMagic = 0x70702d746f6b656e;  // "pp-token"

// One rank's hold on the bytes of a message.
class Hold {
 public:
  Hold(std::shared_ptr<std::byte[]> bytes, uint64_t size,
       std::shared_ptr<MemoryCounter> counter)
      : bytes_(std::move(bytes)), size_(size), counter_(std::move(counter)) {
    counter_->Add(size_);
  }
  ~Hold() { counter_->Remove(size_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const std::shared_ptr<std::byte[]>& bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::byte[]> bytes_;
  uint64_t size_;
  std::shared_ptr<MemoryCounter> counter_;
};

std::string Text(const Token& token) {
  return fmt::format("`{} s{} m{}` of step {}",
                     bytecode::PayloadName(token.payload), token.stage.value,
                     token.mb.value, token.step);
}

}  // namespace

void MemoryCounter::Add(uint64_t bytes) {
  const uint64_t live = live_.fetch_add(bytes) + bytes;
  uint64_t peak = peak_.load();
  while (peak < live && !peak_.compare_exchange_weak(peak, live)) {
  }
}

void MemoryCounter::Remove(uint64_t bytes) { live_.fetch_sub(bytes); }

void MemoryCounter::ResetPeak() { peak_.store(live_.load()); }

uint64_t MessageBytes(uint64_t asked) {
  return std::max<uint64_t>(asked, sizeof(Token));
}

Result<Buffer> NewMessage(uint64_t bytes,
                          const std::shared_ptr<MemoryCounter>& counter) {
  const uint64_t size = MessageBytes(bytes);
  std::shared_ptr<std::byte[]> memory(new (std::nothrow) std::byte[size]);
  if (memory == nullptr) {
    return Fail(
        MachineError(fmt::format("no memory for a message of {} bytes", size)));
  }
  std::byte* data = memory.get();
  return Buffer{data, size,
                std::make_shared<Hold>(std::move(memory), size, counter)};
}

void CountFor(const std::shared_ptr<MemoryCounter>& counter, Buffer* buffer) {
  const auto* held = static_cast<const Hold*>(buffer->owner.get());
  buffer->owner = std::make_shared<Hold>(held->bytes(), buffer->bytes, counter);
}

void WriteToken(const Token& token, Buffer* buffer) {
  Token full = token;
  full.magic = kMagic;
  std::memcpy(buffer->data, &full, sizeof full);
}

Status CheckToken(const Token& needed, const Buffer& buffer) {
  Token got;
  if (buffer.bytes < sizeof got) {
    return RankError(fmt::format("needs {}, its input has {} bytes only",
                                 Text(needed), buffer.bytes));
  }
  std::memcpy(&got, buffer.data, sizeof got);
  if (got.magic != kMagic) {
    return RankError(
        fmt::format("needs {}, its input was never written", Text(needed)));
  }
  if (got.payload != needed.payload || got.stage != needed.stage ||
      got.mb != needed.mb || got.step != needed.step) {
    return RankError(
        fmt::format("needs {}, its input is {}", Text(needed), Text(got)));
  }
  return OkStatus();
}

}  // namespace pp::engine::synthetic
