// Messages of the synthetic engine: a buffer that says what it is, and counts
// as memory of the rank that holds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/buffer.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/instr.h"
#include "runtime/device/driver.h"

namespace pp::engine::synthetic {

// The first bytes of a message.
struct Token {
  uint64_t magic = 0;
  uint64_t step = 0;
  bytecode::Payload payload{};
  StageId stage;
  MicroBatch mb;
};

// Live bytes of one rank. Buffers may be dropped by another thread.
class MemoryCounter {
 public:
  void Add(uint64_t bytes);
  void Remove(uint64_t bytes);
  void ResetPeak();
  uint64_t peak() const { return peak_.load(); }
  uint64_t live() const { return live_.load(); }

 private:
  std::atomic<uint64_t> live_{0};
  std::atomic<uint64_t> peak_{0};
};

// A buffer of `bytes` (room for a Token at least), without a token in it.
// kMachine when there is no memory for it.
Result<Buffer> NewMessage(uint64_t bytes,
                          const std::shared_ptr<MemoryCounter>& counter);
uint64_t MessageBytes(uint64_t asked);  // what NewMessage takes for it

// `buffer`, made by NewMessage of any rank, counts for `counter` as well:
// each rank that holds it counts it, as if it were the rank's own copy.
void CountFor(const std::shared_ptr<MemoryCounter>& counter, Buffer* buffer);

// `raw` as a message that counts for `counter`; and what it was made of.
Buffer Counted(Buffer raw, const std::shared_ptr<MemoryCounter>& counter);
Buffer Uncounted(const Buffer& message);

void WriteToken(const Token& token, Buffer* buffer);
// Whether the message is the one that is needed; the error says what it is.
Status CheckToken(const Token& needed, const Buffer& buffer);

// The same on a GPU, where the kernel compares: a label is a token's bytes.
device::Label LabelOf(const Token& token);
Status CheckLabel(const Token& needed, const device::Label& got);

}  // namespace pp::engine::synthetic
