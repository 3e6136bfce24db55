// Where each (stage, micro-batch) is worked on in the program of its rank.
//
// The producer and the consumer of a boundary tensor are found through it in
// constant time. Building it also proves, independently of check/, that the
// schedule has the shape that lowering relies on: each F once, then one B or
// one I and its W, all on the stage's own rank.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace pp::lower {

class WorkIndex {
 public:
  // kInput names the first operation that is missing, doubled or out of
  // order, and sizes that the bytecode cannot express.
  static Result<WorkIndex> Build(const ir::Schedule& schedule);

  // Index of F, and of B or I, in the program of the stage's rank.
  uint32_t Forward(StageId stage, MicroBatch mb) const {
    return forward_[Cell(stage, mb)];
  }
  uint32_t Backward(StageId stage, MicroBatch mb) const {
    return backward_[Cell(stage, mb)];
  }

 private:
  explicit WorkIndex(const ir::Schedule& schedule);
  size_t Cell(StageId stage, MicroBatch mb) const {
    return static_cast<size_t>(stage.value) * micro_batches_ + mb.value;
  }
  Status AddRank(const ir::Schedule& schedule, Rank rank,
                 std::vector<uint8_t>& progress);

  uint32_t micro_batches_;
  std::vector<uint32_t> forward_;
  std::vector<uint32_t> backward_;
};

}  // namespace pp::lower
