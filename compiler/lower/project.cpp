#include "compiler/lower/project.h"

#include <fmt/format.h>

#include <optional>
#include <queue>

#include "compiler/lower/free_list.h"

namespace pp::lower {
namespace {

namespace op = bytecode::op;
using bytecode::DebugEntry;
using bytecode::Instr;

// A send slot that is released once `due` computations have been issued.
struct Release {
  SlotId slot;
  uint32_t due;
  DebugEntry debug;
};

struct RankState {
  FreeList slots;
  FreeList stashes;
  std::queue<Release> sent;
  uint32_t computed = 0;
};

// One end of a transfer, or a computation: where an instruction comes from.
struct Place {
  Rank rank;
  DebugEntry debug;
};

class Projection {
 public:
  Projection(const ir::Schedule& schedule, const Transfers& transfers,
             const WorkIndex& index, bytecode::Module& module)
      : schedule_(schedule),
        transfers_(transfers),
        index_(index),
        module_(module),
        ranks_(schedule.ranks),
        sent_from_(transfers.tensor_count()),
        read_from_(transfers.tensor_count()),
        stash_(size_t{schedule.placement.stages} * schedule.micro_batches) {}

  void Reserve(const std::vector<Event>& events);
  void Compute(Rank rank, uint32_t op_index);
  void Transfer(const Event& event);
  void Sent(TensorId id);
  Status Finish();

 private:
  void Emit(const Place& place, const Instr& instr) {
    bytecode::RankProgram& program = module_.programs[place.rank.value];
    program.code.push_back(instr);
    program.debug.push_back(place.debug);
  }
  RankState& State(Rank rank) { return ranks_[rank.value]; }
  DebugEntry DebugOf(const ir::Op& op) const {
    if (op.site >= schedule_.sites.size()) return {};
    return {op.site, op.iteration};
  }
  Place Producer(const Tensor& tensor) const {
    return PlaceOf(tensor.payload, tensor.stage, tensor.mb);
  }
  Place Consumer(const Tensor& tensor) const {
    return PlaceOf(tensor.payload, Transfers::ConsumerStage(tensor), tensor.mb);
  }
  Place PlaceOf(Payload payload, StageId stage, MicroBatch mb) const;
  size_t LocalInputs(StageId stage) const;
  void ReleaseDue(Rank rank, bool all);
  SlotId OutputSlot(Rank rank, std::optional<TensorId> output);
  StashId Stash(Rank rank, const ir::Op& op, StageId stage);

  const ir::Schedule& schedule_;
  const Transfers& transfers_;
  const WorkIndex& index_;
  bytecode::Module& module_;
  std::vector<RankState> ranks_;
  std::vector<uint32_t> sent_from_;  // by tensor: slot of the sender
  std::vector<uint32_t> read_from_;  // by tensor: slot the consumer reads
  std::vector<uint32_t> stash_;      // by (stage, micro-batch)
};

Place Projection::PlaceOf(Payload payload, StageId stage, MicroBatch mb) const {
  const Rank rank = schedule_.placement.home[stage.value].rank;
  const uint32_t at = payload == Payload::kAct ? index_.Forward(stage, mb)
                                               : index_.Backward(stage, mb);
  return {rank, DebugOf(schedule_.programs[rank.value][at])};
}

// Exact sizes: growing would copy each instruction about twice.
void Projection::Reserve(const std::vector<Event>& events) {
  std::vector<size_t> count(schedule_.ranks);
  for (const Event& event : events) {
    if (event.kind == EventKind::kCompute) ++count[event.rank];
    if (event.kind != EventKind::kTransfer) continue;
    const Channel& channel =
        transfers_.channels()[transfers_.ChannelOf(event.id)];
    const size_t mark = event.group == GroupMark::kNone ? 0 : 1;
    count[channel.src.value] += 3 + mark;  // SEND, WAIT, FREE
    count[channel.dst.value] += 3 + mark;  // RECV, WAIT, FREE
  }
  for (uint32_t r = 0; r < schedule_.ranks; ++r) {
    // Per chunk also SCALE, UPDATE, and per micro-batch the FREE of a tensor
    // handed over on the rank, forward and backward.
    const auto& chunks = module_.programs[r].chunks;
    for (const bytecode::ChunkInfo& chunk : chunks) {
      count[r] += 2 + LocalInputs(chunk.stage);
    }
    module_.programs[r].code.reserve(count[r] + 1);
    module_.programs[r].debug.reserve(count[r] + 1);
  }
}

size_t Projection::LocalInputs(StageId stage) const {
  const MicroBatch first{0};
  const auto act = transfers_.Input(ir::OpKind::kF, stage, first);
  const auto grad = transfers_.Input(ir::OpKind::kB, stage, first);
  size_t local = 0;
  if (act && transfers_.ChannelOf(*act) == kLocal) ++local;
  if (grad && transfers_.ChannelOf(*grad) == kLocal) ++local;
  return local * schedule_.micro_batches;
}

void Projection::ReleaseDue(Rank rank, bool all) {
  RankState& state = State(rank);
  while (!state.sent.empty() &&
         (all || state.sent.front().due <= state.computed)) {
    const Release release = state.sent.front();
    state.sent.pop();
    const Place place{rank, release.debug};
    Emit(place, op::Wait{.slot = release.slot}.Pack());
    Emit(place, op::Free{.slot = release.slot}.Pack());
    state.slots.Return(release.slot.value);
  }
}

SlotId Projection::OutputSlot(Rank rank, std::optional<TensorId> output) {
  if (!output) return bytecode::kNoSlot;
  const uint32_t slot = State(rank).slots.Take();
  const bool local = transfers_.ChannelOf(*output) == kLocal;
  (local ? read_from_ : sent_from_)[*output] = slot;
  return SlotId{slot};
}

// Taken by F; given back by B or W.
StashId Projection::Stash(Rank rank, const ir::Op& op, StageId stage) {
  FreeList& stashes = State(rank).stashes;
  uint32_t& stash =
      stash_[size_t{stage.value} * schedule_.micro_batches + op.mb];
  if (op.kind == ir::OpKind::kF) stash = stashes.Take();
  if (op.kind == ir::OpKind::kB || op.kind == ir::OpKind::kW) {
    stashes.Return(stash);
  }
  return StashId{stash};
}

Instr ComputeInstr(const ir::Op& op, SlotId in, SlotId out, StashId stash) {
  const ChunkId chunk{op.chunk};
  const MicroBatch mb{op.mb};
  switch (op.kind) {
    case ir::OpKind::kF:
      return op::Forward{chunk, mb, in, out, stash}.Pack();
    case ir::OpKind::kB:
      return op::Backward{chunk, mb, in, out, stash}.Pack();
    case ir::OpKind::kI:
      return op::BackwardInput{chunk, mb, in, out, stash}.Pack();
    case ir::OpKind::kW:
      return op::BackwardWeight{chunk, mb, stash}.Pack();
  }
  return {};
}

void Projection::Compute(Rank rank, uint32_t op_index) {
  const ir::Op& op = schedule_.programs[rank.value][op_index];
  const StageId stage{schedule_.StageOf(rank, op.chunk)};
  const Place place{rank, DebugOf(op)};
  ReleaseDue(rank, false);
  const auto input = transfers_.Input(op.kind, stage, MicroBatch{op.mb});
  SlotId in = bytecode::kNoSlot;
  if (input) {
    in = SlotId{read_from_[*input]};
    if (transfers_.ChannelOf(*input) != kLocal) {
      Emit(place, op::Wait{.slot = in}.Pack());
    }
  }
  const SlotId out =
      OutputSlot(rank, transfers_.Output(op.kind, stage, MicroBatch{op.mb}));
  Emit(place, ComputeInstr(op, in, out, Stash(rank, op, stage)));
  if (input) {
    Emit(place, op::Free{.slot = in}.Pack());
    State(rank).slots.Return(in.value);
  }
  ++State(rank).computed;
}

void Projection::Transfer(const Event& event) {
  const Tensor tensor = transfers_.Describe(event.id);
  const Place src = Producer(tensor);
  const Place dst = Consumer(tensor);
  const LaneId lane{static_cast<uint32_t>(tensor.payload)};
  const SlotId from{sent_from_[event.id]};
  const SlotId into{State(dst.rank).slots.Take()};
  read_from_[event.id] = into.value;
  if (event.group == GroupMark::kFirst) {
    Emit(src, op::GroupBegin{}.Pack());
    Emit(dst, op::GroupBegin{}.Pack());
  }
  Emit(src,
       op::Send{dst.rank, lane, from, tensor.payload, tensor.stage, tensor.mb}
           .Pack());
  Emit(dst,
       op::Recv{src.rank, lane, into, tensor.payload, tensor.stage, tensor.mb}
           .Pack());
  if (event.group == GroupMark::kLast) {
    Emit(src, op::GroupEnd{}.Pack());
    Emit(dst, op::GroupEnd{}.Pack());
  }
}

void Projection::Sent(TensorId id) {
  const Place src = Producer(transfers_.Describe(id));
  RankState& state = State(src.rank);
  state.sent.push({SlotId{sent_from_[id]}, state.computed + 1, src.debug});
}

Status Projection::Finish() {
  for (uint32_t r = 0; r < schedule_.ranks; ++r) {
    ReleaseDue(Rank{r}, true);
    bytecode::RankProgram& program = module_.programs[r];
    program.slots = ranks_[r].slots.count();
    program.stashes = ranks_[r].stashes.count();
    if (program.slots > bytecode::kNoSlot.value) {
      return InputError(fmt::format(
          "schedule {}: rank {} has {} boundary tensors alive at once; "
          "bytecode holds at most {}",
          schedule_.name, r, program.slots, bytecode::kNoSlot.value));
    }
  }
  return OkStatus();
}

}  // namespace

Status Project(const ir::Schedule& schedule, const Transfers& transfers,
               const WorkIndex& index, const std::vector<Event>& events,
               bytecode::Module& module) {
  Projection projection(schedule, transfers, index, module);
  projection.Reserve(events);
  for (const Event& event : events) {
    switch (event.kind) {
      case EventKind::kCompute:
        projection.Compute(Rank{event.rank}, event.id);
        break;
      case EventKind::kTransfer:
        projection.Transfer(event);
        break;
      case EventKind::kSent:
        projection.Sent(event.id);
        break;
    }
  }
  return projection.Finish();
}

}  // namespace pp::lower
