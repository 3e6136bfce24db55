// What ends when, in a simulation: endings with the same time are taken out
// together, in the order of time.
//
// A heap holds each time once and a table finds the endings of a time: under
// uniform costs most of a pipeline's endings share theirs, and cost no more
// than an append.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "compiler/ir/cost_model.h"
#include "llvm/ADT/DenseMap.h"

namespace pp::lower {

struct SentEnding {
  uint32_t channel;
  uint32_t producer;  // operation of the sender
  uint32_t consumer;  // operation of the receiver
};

class Agenda {
 public:
  struct Endings {
    std::vector<SentEnding> sent;
    std::vector<uint32_t> computes;  // ranks
  };

  bool empty() const { return times_.empty(); }
  ir::Ticks next() const { return times_.top(); }
  Endings& At(ir::Ticks time);
  // Those of next(), until the next call.
  Endings& TakeNext();

 private:
  std::priority_queue<ir::Ticks, std::vector<ir::Ticks>,
                      std::greater<ir::Ticks>>
      times_;
  llvm::DenseMap<ir::Ticks, uint32_t> index_;  // into pool_
  std::vector<Endings> pool_;
  std::vector<uint32_t> free_;
  uint32_t taken_ = kNothing;
  // The time asked for last.
  ir::Ticks recent_ = 0;
  uint32_t recent_index_ = kNothing;

  static constexpr uint32_t kNothing = 0xFFFFFFFF;
};

}  // namespace pp::lower
