// Hub: what the ranks of one process share.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "runtime/transport/inproc/bell.h"
#include "runtime/transport/inproc/channel.h"
#include "runtime/transport/inproc/collective.h"

namespace pp::transport::inproc {

class Hub {
 public:
  explicit Hub(uint32_t ranks);

  uint32_t ranks() const { return ranks_; }
  Channel& channel(Rank from, Rank to) {
    return channels_[size_t{from.value} * ranks_ + to.value];
  }
  Bell& bell(Rank rank) { return bells_[rank.value]; }
  Collectives& collectives() { return collectives_; }

  // A request of `rank`, for that rank's thread alone. It stays where it is
  // until it is given back, which must not be before it is done: until then
  // another rank may write to it.
  Request& NewRequest(Rank rank) { return pools_[rank.value].Take(); }
  void GiveBack(Request& request) { pools_[request.self.value].Put(request); }

  // Posts a request; wakes the peer when the two met.
  void Post(Request& request);
  void RingAll();

  // The first cause wins.
  void Abort(const Status& cause);
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  Status cause() const;  // kAborted with the message of the first cause

 private:
  uint32_t ranks_;
  Crowd crowd_;
  std::vector<Channel> channels_;   // from-major
  std::vector<RequestPool> pools_;  // by rank
  std::deque<Bell> bells_;          // by rank
  Collectives collectives_;
  std::atomic<bool> aborted_{false};
  mutable std::mutex cause_mutex_;
  std::string cause_;
};

}  // namespace pp::transport::inproc
