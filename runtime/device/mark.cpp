#include "runtime/device/mark.h"

#include <cmath>

namespace pp::device {

Status Driver::WaitIdle(Event event) {
  PP_ASSIGN_OR_RETURN(const bool passed, WaitFor(event, kIdleLimit));
  if (passed) return OkStatus();
  return RankError("the GPU has not answered for 30 s");
}

Result<std::shared_ptr<const Timebase>> Timebase::Create(
    std::shared_ptr<Driver> driver, uint32_t device) {
  std::shared_ptr<Timebase> base(new Timebase(std::move(driver), device));
  Driver& of = *base->driver_;
  PP_ASSIGN_OR_RETURN(base->stream_, of.NewStream(device));
  PP_ASSIGN_OR_RETURN(base->event_, of.NewEvent(device));
  // Twice: the first wait of a process starts the device up.
  for (int i = 0; i < 2; ++i) {
    PP_RETURN_IF_ERROR(of.Record(base->event_, base->stream_));
    PP_RETURN_IF_ERROR(of.WaitIdle(base->event_));
    base->ns_ = of.HostNs();
  }
  return std::shared_ptr<const Timebase>(std::move(base));
}

Timebase::~Timebase() {
  if (event_ != nullptr) driver_->Delete(event_);
  if (stream_ != nullptr) driver_->Delete(stream_);
}

Events::~Events() {
  for (Event event : free_) driver().Delete(event);
  if (base_ != nullptr) driver().Delete(base_);
}

Result<Event> Events::Take() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const Event event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  return driver().NewEvent(device());
}

void Events::GiveBack(Event event) {
  std::lock_guard lock(mutex_);
  free_.push_back(event);
}

Status Events::Rebase(Event passed) {
  std::lock_guard lock(mutex_);
  const Event before = base_ == nullptr ? timebase_->event() : base_;
  PP_ASSIGN_OR_RETURN(const double ms, driver().Milliseconds(before, passed));
  if (base_ == nullptr) {
    base_ns_ = static_cast<double>(timebase_->ns());
  } else {
    free_.push_back(base_);
  }
  base_ = passed;
  base_ns_ += ms * 1e6;
  return OkStatus();
}

Result<int64_t> Events::TimeNs(Event passed) {
  std::lock_guard lock(mutex_);
  if (base_ == nullptr) {
    return Fail(RankError("the time of a mark, before the first step"));
  }
  PP_ASSIGN_OR_RETURN(const double ms, driver().Milliseconds(base_, passed));
  return std::llround(base_ns_ + ms * 1e6);
}

struct Mark::State {
  std::shared_ptr<Events> events;
  Event event;
  State(std::shared_ptr<Events> from, Event recorded)
      : events(std::move(from)), event(recorded) {}
  ~State() { events->GiveBack(event); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Mark::Mark(std::shared_ptr<Events> events, Event event)
    : state_(std::make_shared<const State>(std::move(events), event)) {}

Event Mark::event() const {
  return state_ == nullptr ? nullptr : state_->event;
}

uint32_t Mark::device() const { return state_->events->device(); }

bool Mark::Of(const Events& events) const {
  return state_ != nullptr && state_->events.get() == &events;
}

Result<bool> Mark::Passed() const {
  if (state_ == nullptr) return true;
  return state_->events->driver().Passed(state_->event);
}

Result<int64_t> Mark::TimeNs() const {
  if (state_ == nullptr) return 0;
  return state_->events->TimeNs(state_->event);
}

}  // namespace pp::device
