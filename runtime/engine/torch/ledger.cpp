#include "runtime/engine/torch/ledger.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <new>
#include <utility>

namespace pp::engine::torch_engine {
namespace {

// What Torch aligns to; also a cache line, so the header costs one.
constexpr size_t kAlignment = 64;

// In front of every block.
struct Header {
  std::shared_ptr<Ledger> ledger;
  size_t bytes = 0;
};
static_assert(sizeof(Header) <= kAlignment);

thread_local std::shared_ptr<Ledger> current;

Header* HeaderOf(void* block) {
  return reinterpret_cast<Header*>(static_cast<char*>(block) - kAlignment);
}

void Release(void* block) {
  if (block == nullptr) return;
  Header* header = HeaderOf(block);
  if (header->ledger) {
    header->ledger->Subtract(static_cast<int64_t>(header->bytes));
  }
  header->~Header();
  std::free(header);
}

class RankAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &Release, c10::DeviceType::CPU};
    const size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (padded < bytes) throw std::bad_alloc();
    void* base = std::aligned_alloc(kAlignment, padded + kAlignment);
    if (base == nullptr) throw std::bad_alloc();
    new (base) Header{current, bytes};
    if (current) current->Add(static_cast<int64_t>(bytes));
    void* block = static_cast<char*>(base) + kAlignment;
    return {block, block, &Release, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

void Ledger::Add(int64_t bytes) {
  const int64_t now = live_.fetch_add(bytes) + bytes;
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

LedgerScope::LedgerScope(std::shared_ptr<Ledger> ledger)
    : before_(std::exchange(current, std::move(ledger))) {}

LedgerScope::~LedgerScope() { current = std::move(before_); }

void InstallAllocator() {
  // Never freed: blocks may outlive every static object.
  static RankAllocator* const allocator = [] {
    auto* made = new RankAllocator;
    c10::SetCPUAllocator(made);
    return made;
  }();
  (void)allocator;
}

void MoveToLedger(const c10::Storage& storage, std::shared_ptr<Ledger> ledger) {
  const c10::DataPtr& block = storage.data_ptr();
  if (block.get_deleter() != &Release || block.get() == nullptr) return;
  Header* header = HeaderOf(block.get());
  const auto bytes = static_cast<int64_t>(header->bytes);
  if (header->ledger) header->ledger->Subtract(bytes);
  if (ledger) ledger->Add(bytes);
  header->ledger = std::move(ledger);
}

}  // namespace pp::engine::torch_engine
