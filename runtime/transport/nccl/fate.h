// Fate: why a run has ended, for all ranks of this process. Thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "runtime/base/status.h"

namespace pp::transport::nccl {

class Fate {
 public:
  // The first cause wins.
  void Abort(const Status& cause) {
    std::lock_guard lock(mutex_);
    if (aborted()) return;
    cause_ = cause.message();
    aborted_.store(true, std::memory_order_release);
  }
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  // OK while nobody has aborted; then kAborted with the first cause.
  Status Check() const {
    if (!aborted()) return OkStatus();
    std::lock_guard lock(mutex_);
    return {StatusCode::kAborted, cause_};
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> aborted_{false};
  std::string cause_;
};

}  // namespace pp::transport::nccl
