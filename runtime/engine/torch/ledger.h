// Ledger: the live bytes of one rank's tensors, exactly.
//
// InstallAllocator replaces Torch's CPU allocator by one that writes into each
// block whose memory it is: that of the rank whose LedgerScope is open on the
// allocating thread. Freeing subtracts from the same ledger, on whatever
// thread it happens. Counted are the bytes asked for; scratch memory that
// MKL or oneDNN take for themselves is not.
#pragma once

#include <c10/core/Storage.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace pp::engine::torch_engine {

class Ledger {
 public:
  void Add(int64_t bytes);
  void Subtract(int64_t bytes) { live_ -= bytes; }
  void ResetPeak() { peak_ = live_.load(); }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }  // since ResetPeak

 private:
  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> peak_{0};
};

// While it lives, allocations of this thread are `ledger`'s (null: nobody's).
class LedgerScope {
 public:
  explicit LedgerScope(std::shared_ptr<Ledger> ledger);
  ~LedgerScope();
  LedgerScope(const LedgerScope&) = delete;
  LedgerScope& operator=(const LedgerScope&) = delete;

 private:
  std::shared_ptr<Ledger> before_;
};

// Once per process; later calls do nothing. Never undone.
void InstallAllocator();

// The memory of `storage` is from now on `ledger`'s. Nothing happens when it
// was not made by this allocator.
void MoveToLedger(const c10::Storage& storage, std::shared_ptr<Ledger> ledger);

}  // namespace pp::engine::torch_engine
