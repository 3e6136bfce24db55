// Bell: where one rank sleeps until another one has done something for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "runtime/base/clock.h"
#include "runtime/transport/transport.h"

namespace pp::transport::inproc {

// How many ranks of a hub want a core, and how many cores there are for them.
class Crowd {
 public:
  Crowd(uint32_t ranks, uint32_t cores)
      : awake_(static_cast<int64_t>(ranks)),
        cores_(static_cast<int64_t>(cores)) {}

  void Sleeps() { awake_.fetch_sub(1, std::memory_order_relaxed); }
  void Wakes() { awake_.fetch_add(1, std::memory_order_relaxed); }
  // A rank that spins takes the core from nobody.
  bool HaveRoom() const {
    return awake_.load(std::memory_order_relaxed) <= cores_;
  }

 private:
  std::atomic<int64_t> awake_;
  int64_t cores_;
};

// A rank that waits spins for as long as its sleep and its waking would cost,
// and only while every rank that is awake has a core; then it sleeps. Where
// that was in vain, as when other programs have the cores or the peer is at
// work for long, it spins more and more seldom. Whoever rings pays for a waking
// only where somebody sleeps.
class Bell {
 public:
  explicit Bell(Crowd& crowd) : crowd_(crowd) {}

  // What the sleeper waits for must have been stored before.
  void Ring() {
    if (!TakeAsleep()) return;
    { std::lock_guard lock(mutex_); }
    changed_.notify_one();
  }

  // True when `ready` came true, false when the deadline passed before. One
  // thread at a time.
  template <class Ready>
  bool WaitUntil(Deadline deadline, const Ready& ready) {
    return Spin(ready) || Sleep(deadline, ready);
  }

 private:
  // About a microsecond: a peer that is on its way.
  static constexpr int kSpins = 32;
  static constexpr int64_t kSpinNs = 20'000;
  static constexpr uint32_t kMostSkipped = 63;

  template <class Ready>
  bool Spin(const Ready& ready) {
    if (SpinShortly(ready)) return true;
    if (to_skip_ > 0) {
      --to_skip_;
      return false;
    }
    const int64_t until = NowNs() + kSpinNs;
    while (crowd_.HaveRoom() && NowNs() < until) {
      if (SpinShortly(ready)) {
        skipped_ = 0;
        return true;
      }
    }
    skipped_ = std::min(2 * skipped_ + 1, kMostSkipped);
    to_skip_ = skipped_;
    return false;
  }

  template <class Ready>
  static bool SpinShortly(const Ready& ready) {
    for (int i = 0; i < kSpins; ++i) {
      if (ready()) return true;
      Pause();
    }
    return false;
  }

  // Either the ringer's exchange comes first, then `ready` sees what it stored,
  // or this one's does, then the ringer sees a sleeper and notifies.
  template <class Ready>
  bool Sleep(Deadline deadline, const Ready& ready) {
    std::unique_lock lock(mutex_);
    bool in_time = true;
    for (;;) {
      if (!asleep_.exchange(true, std::memory_order_acq_rel)) crowd_.Sleeps();
      if (ready() || !in_time) break;
      in_time =
          changed_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    }
    TakeAsleep();
    return ready();
  }

  // True: somebody slept, and counts as awake from here on.
  bool TakeAsleep() {
    if (!asleep_.exchange(false, std::memory_order_acq_rel)) return false;
    crowd_.Wakes();
    return true;
  }

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  Crowd& crowd_;
  uint32_t skipped_ = 0;  // long spins left out after the last one in vain
  uint32_t to_skip_ = 0;  // of these, still to come
  std::atomic<bool> asleep_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace pp::transport::inproc
