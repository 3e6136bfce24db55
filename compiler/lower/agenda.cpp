#include "compiler/lower/agenda.h"

namespace pp::lower {

Agenda::Endings& Agenda::At(ir::Ticks time) {
  if (recent_index_ != kNothing && recent_ == time) return pool_[recent_index_];
  const auto [at, fresh] = index_.try_emplace(time, 0);
  if (fresh) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(pool_.size()));
      pool_.emplace_back();
    }
    at->second = free_.back();
    free_.pop_back();
    times_.push(time);
  }
  recent_ = time;
  recent_index_ = at->second;
  return pool_[recent_index_];
}

Agenda::Endings& Agenda::TakeNext() {
  if (taken_ != kNothing) {
    pool_[taken_].sent.clear();
    pool_[taken_].computes.clear();
    free_.push_back(taken_);
  }
  const auto at = index_.find(times_.top());
  taken_ = at->second;
  index_.erase(at);
  times_.pop();
  if (recent_index_ == taken_) recent_index_ = kNothing;
  return pool_[taken_];
}

}  // namespace pp::lower
