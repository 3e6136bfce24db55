#include "compiler/lower/project.h"

#include <fmt/format.h>

#include <queue>
#include <vector>

#include "compiler/analysis/compute_ref.h"
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

class Projection {
 public:
  Projection(const ir::Schedule& schedule, const Transfers& transfers,
             const WorkIndex& index, Rank rank, bytecode::RankProgram& program)
      : schedule_(schedule),
        transfers_(transfers),
        index_(index),
        ops_(schedule.programs[rank.value]),
        stages_(schedule.placement.stage[rank.value]),
        program_(program),
        in_(ops_.size()),
        out_(ops_.size()),
        stash_(stages_.size() * schedule.micro_batches) {}

  void Run(const RankPlan& plan);
  uint32_t slots() const { return slots_.count(); }
  uint32_t stashes() const { return stashes_.count(); }

 private:
  void Emit(DebugEntry debug, const Instr& instr) {
    program_.code.push_back(instr);
    program_.debug.push_back(debug);
  }
  DebugEntry DebugOf(const ir::Op& op) const {
    if (op.site >= schedule_.sites.size()) return {};
    return {op.site, op.iteration};
  }
  StageId StageOf(const ir::Op& op) const { return StageId{stages_[op.chunk]}; }
  void Reserve(const RankPlan& plan);
  void Compute(uint32_t index);
  void Send(uint32_t producer, GroupMark mark);
  void Recv(uint32_t consumer, GroupMark mark);
  void Sent(uint32_t producer);
  void ReleaseDue(bool all);
  SlotId OutputSlot(uint32_t index, const ir::Op& op, StageId stage);
  StashId Stash(const ir::Op& op);

  const ir::Schedule& schedule_;
  const Transfers& transfers_;
  const WorkIndex& index_;
  const std::vector<ir::Op>& ops_;
  const std::vector<uint32_t>& stages_;  // by chunk
  bytecode::RankProgram& program_;
  FreeList slots_, stashes_;
  std::queue<Release> sent_;
  uint32_t computed_ = 0;
  std::vector<uint32_t> in_, out_;  // by operation: the slots of its tensors
  std::vector<uint32_t> stash_;     // by (chunk, micro-batch)
};

// Enough in one go: growing would copy each instruction about twice.
void Projection::Reserve(const RankPlan& plan) {
  // A send is SEND, WAIT, FREE, a receive RECV, WAIT, FREE, each perhaps with
  // a group mark; a tensor handed over on the rank has one FREE.
  size_t size = plan.size() + ops_.size();
  for (size_t at = 0; at < plan.size(); ++at) {
    const StepKind kind = plan.KindAt(at);
    if (plan.MarkAt(at) != GroupMark::kNone) ++size;
    if (kind == StepKind::kSent || kind == StepKind::kRecv) ++size;
  }
  size += 2 * stages_.size() + 1;  // the end of the step
  program_.code.reserve(size);
  program_.debug.reserve(size);
}

void Projection::Run(const RankPlan& plan) {
  Reserve(plan);
  uint32_t next = 0;
  auto other = plan.ops().begin();
  for (size_t at = 0; at < plan.size(); ++at) {
    switch (plan.KindAt(at)) {
      case StepKind::kCompute:
        Compute(next++);
        break;
      case StepKind::kSend:
        Send(*other++, plan.MarkAt(at));
        break;
      case StepKind::kRecv:
        Recv(*other++, plan.MarkAt(at));
        break;
      case StepKind::kSent:
        Sent(*other++);
        break;
    }
  }
  ReleaseDue(true);
}

void Projection::ReleaseDue(bool all) {
  while (!sent_.empty() && (all || sent_.front().due <= computed_)) {
    const Release release = sent_.front();
    sent_.pop();
    Emit(release.debug, op::Wait{.slot = release.slot}.Pack());
    Emit(release.debug, op::Free{.slot = release.slot}.Pack());
    slots_.Return(release.slot.value);
  }
}

SlotId Projection::OutputSlot(uint32_t index, const ir::Op& op, StageId stage) {
  const ChannelId output = transfers_.Output(op.kind, stage);
  if (output == kNoTensor) return bytecode::kNoSlot;
  const uint32_t slot = slots_.Take();
  if (output == kLocal) {
    const StageId reader = Transfers::ConsumerStage(op.kind, stage);
    in_[op.kind == ir::OpKind::kF
            ? index_.Forward(reader, MicroBatch{op.mb})
            : index_.Backward(reader, MicroBatch{op.mb})] = slot;
  } else {
    out_[index] = slot;
  }
  return SlotId{slot};
}

// Taken by F; given back by B or W.
StashId Projection::Stash(const ir::Op& op) {
  uint32_t& stash = stash_[size_t{op.chunk} * schedule_.micro_batches + op.mb];
  if (op.kind == ir::OpKind::kF) stash = stashes_.Take();
  if (op.kind == ir::OpKind::kB || op.kind == ir::OpKind::kW) {
    stashes_.Return(stash);
  }
  return StashId{stash};
}

void Projection::Compute(uint32_t index) {
  const ir::Op& op = ops_[index];
  const StageId stage = StageOf(op);
  const DebugEntry debug = DebugOf(op);
  ReleaseDue(false);
  const ChannelId input = transfers_.Input(op.kind, stage);
  const SlotId in = input == kNoTensor ? bytecode::kNoSlot : SlotId{in_[index]};
  if (Travels(input)) Emit(debug, op::Wait{.slot = in}.Pack());
  const SlotId out = OutputSlot(index, op, stage);
  const analysis::ComputeRef what{op.kind, op.chunk, op.mb};
  Emit(debug, analysis::ComputeInstr(what, in, out, Stash(op)));
  if (input != kNoTensor) {
    Emit(debug, op::Free{.slot = in}.Pack());
    slots_.Return(in.value);
  }
  ++computed_;
}

void Projection::Send(uint32_t producer, GroupMark mark) {
  const ir::Op& op = ops_[producer];
  const StageId stage = StageOf(op);
  const DebugEntry debug = DebugOf(op);
  const Payload payload = PayloadOf(op.kind);
  const Channel& channel =
      transfers_.channels()[transfers_.Output(op.kind, stage)];
  if (mark == GroupMark::kFirst) Emit(debug, op::GroupBegin{}.Pack());
  Emit(debug,
       op::Send{channel.dst, LaneId{static_cast<uint32_t>(payload)},
                SlotId{out_[producer]}, payload, stage, MicroBatch{op.mb}}
           .Pack());
  if (mark == GroupMark::kLast) Emit(debug, op::GroupEnd{}.Pack());
}

void Projection::Recv(uint32_t consumer, GroupMark mark) {
  const ir::Op& op = ops_[consumer];
  const StageId stage = StageOf(op);
  const DebugEntry debug = DebugOf(op);
  const Payload payload = PayloadOf(op.kind);
  const Channel& channel =
      transfers_.channels()[transfers_.Input(op.kind, stage)];
  const StageId producer{payload == Payload::kAct ? stage.value - 1
                                                  : stage.value + 1};
  in_[consumer] = slots_.Take();
  if (mark == GroupMark::kFirst) Emit(debug, op::GroupBegin{}.Pack());
  Emit(debug,
       op::Recv{channel.src, LaneId{static_cast<uint32_t>(payload)},
                SlotId{in_[consumer]}, payload, producer, MicroBatch{op.mb}}
           .Pack());
  if (mark == GroupMark::kLast) Emit(debug, op::GroupEnd{}.Pack());
}

void Projection::Sent(uint32_t producer) {
  sent_.push({SlotId{out_[producer]}, computed_ + 1, DebugOf(ops_[producer])});
}

}  // namespace

Status Project(const ir::Schedule& schedule, const Transfers& transfers,
               const WorkIndex& index, Rank rank, const RankPlan& plan,
               bytecode::RankProgram& program) {
  program.code.clear();
  program.debug.clear();
  Projection projection(schedule, transfers, index, rank, program);
  projection.Run(plan);
  program.slots = projection.slots();
  program.stashes = projection.stashes();
  if (program.slots > bytecode::kNoSlot.value) {
    return InputError(fmt::format(
        "schedule {}: rank {} has {} boundary tensors alive at once; bytecode "
        "holds at most {}",
        schedule.name, rank.value, program.slots, bytecode::kNoSlot.value));
  }
  return OkStatus();
}

}  // namespace pp::lower
