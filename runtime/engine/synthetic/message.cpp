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
  Hold(std::shared_ptr<void> bytes, uint64_t size,
       std::shared_ptr<MemoryCounter> counter)
      : bytes_(std::move(bytes)), size_(size), counter_(std::move(counter)) {
    counter_->Add(size_);
  }
  ~Hold() { counter_->Remove(size_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const std::shared_ptr<void>& bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> bytes_;
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
  return Counted({data, size, std::move(memory)}, counter);
}

Buffer Counted(Buffer raw, const std::shared_ptr<MemoryCounter>& counter) {
  raw.owner = std::make_shared<Hold>(std::move(raw.owner), raw.bytes, counter);
  return raw;
}

Buffer Uncounted(const Buffer& message) {
  const auto* held = static_cast<const Hold*>(message.owner.get());
  return {message.data, message.bytes, held->bytes()};
}

void CountFor(const std::shared_ptr<MemoryCounter>& counter, Buffer* buffer) {
  *buffer = Counted(Uncounted(*buffer), counter);
}

device::Label LabelOf(const Token& token) {
  static_assert(sizeof(Token) == sizeof(device::Label));
  // Field by field onto zeros: padding is compared as well.
  Token clean;
  std::memset(static_cast<void*>(&clean), 0, sizeof clean);
  clean.magic = kMagic;
  clean.step = token.step;
  clean.payload = token.payload;
  clean.stage = token.stage;
  clean.mb = token.mb;
  device::Label label;
  std::memcpy(&label, &clean, sizeof label);
  return label;
}

void WriteToken(const Token& token, Buffer* buffer) {
  const device::Label label = LabelOf(token);
  std::memcpy(buffer->data, &label, sizeof label);
}

Status CheckLabel(const Token& needed, const device::Label& label) {
  if (label == LabelOf(needed)) return OkStatus();
  Token got;
  std::memcpy(static_cast<void*>(&got), &label, sizeof got);
  if (got.magic != kMagic) {
    return RankError(
        fmt::format("needs {}, its input was never written", Text(needed)));
  }
  return RankError(
      fmt::format("needs {}, its input is {}", Text(needed), Text(got)));
}

Status CheckToken(const Token& needed, const Buffer& buffer) {
  device::Label got;
  if (buffer.bytes < sizeof got) {
    return RankError(fmt::format("needs {}, its input has {} bytes only",
                                 Text(needed), buffer.bytes));
  }
  std::memcpy(&got, buffer.data, sizeof got);
  return CheckLabel(needed, got);
}

}  // namespace pp::engine::synthetic
