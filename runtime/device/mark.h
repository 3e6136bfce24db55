// Mark: a point in a rank's queued work. Events: where marks come from, and the
// clock that tells when they were passed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/driver.h"

namespace pp::device {

// One moment of a device that the host knows the time of. Shared by the ranks
// on the device, so that their times are on one scale.
class Timebase {
 public:
  static Result<std::shared_ptr<const Timebase>> Create(
      std::shared_ptr<Driver> driver, uint32_t device);
  ~Timebase();
  Timebase(const Timebase&) = delete;
  Timebase& operator=(const Timebase&) = delete;

  const std::shared_ptr<Driver>& driver() const { return driver_; }
  uint32_t device() const { return device_; }
  Event event() const { return event_; }
  int64_t ns() const { return ns_; }

 private:
  Timebase(std::shared_ptr<Driver> driver, uint32_t device)
      : driver_(std::move(driver)), device_(device) {}

  std::shared_ptr<Driver> driver_;
  uint32_t device_;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  int64_t ns_ = 0;
};

// The events of one rank, used again and again. Thread-safe.
class Events {
 public:
  explicit Events(std::shared_ptr<const Timebase> timebase)
      : timebase_(std::move(timebase)) {}
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  Driver& driver() const { return *timebase_->driver(); }
  uint32_t device() const { return timebase_->device(); }

  Result<Event> Take();
  void GiveBack(Event event);

  // Takes the clock's zero anew: the driver counts in float milliseconds,
  // which get coarse with time. `passed` has been passed; it is kept.
  Status Rebase(Event passed);
  // On the host's steady clock.
  Result<int64_t> TimeNs(Event passed);

 private:
  const std::shared_ptr<const Timebase> timebase_;
  std::mutex mutex_;
  std::vector<Event> free_;
  Event base_ = nullptr;
  double base_ns_ = 0;
};

// A value, cheap to copy, usable from any thread. An empty one is a point that
// was passed before everything.
class Mark {
 public:
  Mark() = default;
  // `event` came from events->Take() and has been recorded.
  Mark(std::shared_ptr<Events> events, Event event);

  explicit operator bool() const { return state_ != nullptr; }
  Event event() const;                  // null for an empty one
  uint32_t device() const;              // of a mark that is not empty
  bool Of(const Events& events) const;  // whether it came from there
  Result<bool> Passed() const;
  // Host's steady clock. Only of a mark that has been passed.
  Result<int64_t> TimeNs() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace pp::device
