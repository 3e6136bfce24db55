// Bell: where one rank sleeps until another one has done something for it.
#pragma once

#include <condition_variable>
#include <mutex>

#include "runtime/transport/transport.h"

namespace pp::transport::inproc {

class Bell {
 public:
  // What the sleeper waits for must have been stored before.
  void Ring() {
    { std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }

  // True when `ready` came true, false when the deadline passed before.
  template <class Ready>
  bool WaitUntil(Deadline deadline, const Ready& ready) {
    // About a microsecond: the common case of a peer on the other core.
    // Longer would take the core from the rank that is waited for.
    for (int i = 0; i < kSpins; ++i) {
      if (ready()) return true;
      Pause();
    }
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, ready);
  }

 private:
  static constexpr int kSpins = 32;

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace pp::transport::inproc
