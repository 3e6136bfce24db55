// Sums and barriers over a set of ranks that share memory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/transport/inproc/bell.h"
#include "runtime/transport/transport.h"

namespace pp::transport::inproc {

// One meeting of the ranks of a set. The last one to come adds up the parts in
// the order of the list and completes the round. Parts on a GPU (with marks)
// are left to the ranks, which all see them.
struct Round {
  std::vector<Rank> order;
  std::vector<Buffer> parts;        // by position in `order`
  std::vector<bool> arrived;        // likewise
  std::vector<device::Mark> marks;  // likewise: when the part is there
  std::vector<float> sum;
  Status failure;
  std::atomic<bool> done{false};
};

class Collectives {
 public:
  // Joins the current round of this set. When this rank was the last one, the
  // round is done on return and the caller wakes the others. Thread-safe.
  std::shared_ptr<Round> Join(Rank self, std::span<const Rank> ranks,
                              const Buffer& part, const device::Mark& mark);

  // A rank gives up waiting: its buffer is not read any more from here on.
  void Leave(Rank self, Round& round);

 private:
  std::mutex mutex_;
  // By the sorted set, so that lists in another order meet and are refused.
  std::map<std::vector<Rank>, std::shared_ptr<Round>> rounds_;
};

}  // namespace pp::transport::inproc
