// Ranks as threads of one process, held to the rules of NCCL: rendezvous, one
// serial queue of communication a rank (or one a lane), groups all or nothing,
// no tags. A program that leans on anything more hangs, and is told so as soon
// as no rank can move: kRankFailed on every rank, naming what each waits for. A
// program that swaps two tensors delivers the wrong one without a word.
#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/transport.h"

namespace pp::transport::emulated {

struct Rules {
  // Each lane is a queue of its own, and each set of ranks that sum up; else a
  // rank has one queue for all.
  bool queue_per_lane = false;
  // A send completes at the head of its queue without its receive.
  bool eager = false;
};

// One endpoint per rank. They may be destroyed in any order.
std::vector<std::unique_ptr<Transport>> Create(uint32_t ranks, Rules rules);

inline auto CreateStrict(uint32_t ranks) { return Create(ranks, {}); }
inline auto CreateLanes(uint32_t ranks) {
  return Create(ranks, {.queue_per_lane = true});
}
inline auto CreateEager(uint32_t ranks) {
  return Create(ranks, {.eager = true});
}

}  // namespace pp::transport::emulated
