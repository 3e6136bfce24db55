// Boundary tensors, and which of them travel between ranks.
//
// A tensor is the output of a stage (act: stage s to s+1) or the gradient of
// its input (grad: stage s to s-1) for one micro-batch. Where both stages live
// on one rank it is handed over through a slot; elsewhere it is a transfer on
// the channel (source rank, destination rank, payload).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"
#include "runtime/base/ids.h"
#include "runtime/bytecode/instr.h"

namespace pp::lower {

using bytecode::Payload;

struct Channel {
  Rank src;
  Rank dst;
  Payload payload;
};

using ChannelId = uint32_t;
inline constexpr ChannelId kLocal = 0xFFFFFFFF;     // a slot of one rank
inline constexpr ChannelId kNoTensor = 0xFFFFFFFE;  // an end of the pipeline
constexpr bool Travels(ChannelId channel) { return channel < kNoTensor; }

// F carries acts on, B and I carry grads back, W carries nothing.
constexpr Payload PayloadOf(ir::OpKind kind) {
  return kind == ir::OpKind::kF ? Payload::kAct : Payload::kGrad;
}

class Transfers {
 public:
  explicit Transfers(const ir::Schedule& schedule);

  // How what an operation on `stage` reads comes to it, and how what it writes
  // leaves.
  ChannelId Input(ir::OpKind kind, StageId stage) const {
    return kind == ir::OpKind::kW ? kNoTensor : At(input_, kind, stage);
  }
  ChannelId Output(ir::OpKind kind, StageId stage) const {
    return kind == ir::OpKind::kW ? kNoTensor : At(output_, kind, stage);
  }
  // The stage that reads what `kind` on `stage` writes; there is one.
  static StageId ConsumerStage(ir::OpKind kind, StageId stage) {
    return StageId{kind == ir::OpKind::kF ? stage.value + 1 : stage.value - 1};
  }

  // Sorted by (src, dst, payload).
  const std::vector<Channel>& channels() const { return channels_; }

 private:
  using ByStage = std::array<std::vector<ChannelId>, bytecode::kPayloadCount>;
  static ChannelId At(const ByStage& by_stage, ir::OpKind kind, StageId stage) {
    return by_stage[static_cast<size_t>(PayloadOf(kind))][stage.value];
  }

  std::vector<Channel> channels_;
  ByStage input_, output_;  // by payload, then stage
};

}  // namespace pp::lower
