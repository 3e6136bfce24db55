// Boundary tensors, and which of them travel between ranks.
//
// A tensor is the output of a stage (act: stage s to s+1) or the gradient of
// its input (grad: stage s to s-1) for one micro-batch. Where both stages live
// on one rank it is handed over through a slot; elsewhere it is a transfer on
// the channel (source rank, destination rank, payload).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/schedule.h"
#include "runtime/base/ids.h"
#include "runtime/bytecode/instr.h"

namespace pp::lower {

using bytecode::Payload;

// Number of a tensor: dense, so that per-tensor facts are plain arrays.
using TensorId = uint32_t;

struct Tensor {
  Payload payload;
  StageId stage;  // that computes it
  MicroBatch mb;
};

struct Channel {
  Rank src;
  Rank dst;
  Payload payload;
};

using ChannelId = uint32_t;
inline constexpr ChannelId kLocal = 0xFFFFFFFF;

class Transfers {
 public:
  explicit Transfers(const ir::Schedule& schedule);

  // What an operation on `stage` reads and writes; none at the pipeline's
  // ends and for W.
  std::optional<TensorId> Input(ir::OpKind kind, StageId stage,
                                MicroBatch mb) const;
  std::optional<TensorId> Output(ir::OpKind kind, StageId stage,
                                 MicroBatch mb) const;

  Tensor Describe(TensorId id) const {
    const uint32_t cell = id / bytecode::kPayloadCount;
    return {static_cast<Payload>(id % bytecode::kPayloadCount),
            StageId{cell / micro_batches_}, MicroBatch{cell % micro_batches_}};
  }
  static StageId ConsumerStage(const Tensor& tensor) {
    return StageId{tensor.payload == Payload::kAct ? tensor.stage.value + 1
                                                   : tensor.stage.value - 1};
  }
  // Of all tensors, those included that no operation computes.
  size_t tensor_count() const {
    return size_t{stages_} * micro_batches_ * bytecode::kPayloadCount;
  }

  // kLocal: producer and consumer are on one rank.
  ChannelId ChannelOf(TensorId id) const {
    const Tensor tensor = Describe(id);
    return by_stage_[static_cast<size_t>(tensor.payload)][tensor.stage.value];
  }
  const std::vector<Channel>& channels() const { return channels_; }

 private:
  TensorId Id(Payload payload, uint32_t stage, MicroBatch mb) const {
    return (stage * micro_batches_ + mb.value) * bytecode::kPayloadCount +
           static_cast<uint32_t>(payload);
  }

  uint32_t stages_;
  uint32_t micro_batches_;
  std::vector<Channel> channels_;  // sorted by (src, dst, payload)
  std::vector<ChannelId> by_stage_[bytecode::kPayloadCount];
};

}  // namespace pp::lower
