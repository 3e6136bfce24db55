// What the transports do alike with requests and lists of ranks.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "runtime/transport/transport.h"

namespace pp::transport {

// Requests in flight by id; `Pointer` is null where an id is free.
template <typename Pointer>
class RequestTable {
 public:
  RequestId Add(Pointer request) {
    if (free_.empty()) {
      requests_.push_back(std::move(request));
      return requests_.size() - 1;
    }
    const RequestId id = free_.back();
    free_.pop_back();
    requests_[id] = std::move(request);
    return id;
  }

  // null: no such request is in flight.
  const Pointer& Find(RequestId id) const {
    static const Pointer kNone{};
    return id < requests_.size() ? requests_[id] : kNone;
  }

  // One that is in flight.
  Pointer Take(RequestId id) {
    free_.push_back(id);
    return std::exchange(requests_[id], Pointer{});
  }

 private:
  std::vector<Pointer> requests_;
  std::vector<RequestId> free_;
};

// Those that sum up must be distinct, `self` one of them, and `known` all.
template <typename Known>
bool MaySum(std::span<const Rank> ranks, Rank self, Known known) {
  std::vector<Rank> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::binary_search(sorted.begin(), sorted.end(), self) &&
         std::all_of(sorted.begin(), sorted.end(), known);
}

// Any distinct ranks of the world, `self` among them.
inline Status CheckSumRanks(std::span<const Rank> ranks, Rank self,
                            uint32_t world) {
  if (MaySum(ranks, self, [=](Rank r) { return r.value < world; })) {
    return OkStatus();
  }
  return RankError(
      fmt::format("a sum must list distinct ranks below {}, rank {} among them",
                  world, self.value));
}

}  // namespace pp::transport
