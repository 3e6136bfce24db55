#include "compiler/analysis/compute_ref.h"

namespace pp::analysis {
namespace {

using bytecode::Opcode;

std::optional<ir::OpKind> KindOf(Opcode op) {
  switch (op) {
    case Opcode::kForward:
      return ir::OpKind::kF;
    case Opcode::kBackward:
      return ir::OpKind::kB;
    case Opcode::kBackwardInput:
      return ir::OpKind::kI;
    case Opcode::kBackwardWeight:
      return ir::OpKind::kW;
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kWait:
    case Opcode::kFree:
    case Opcode::kGroupBegin:
    case Opcode::kGroupEnd:
    case Opcode::kScale:
    case Opcode::kReduce:
    case Opcode::kUpdate:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

// All compute instructions begin with chunk and micro-batch.
std::optional<ComputeRef> ComputeOf(const bytecode::Instr& instr) {
  const auto kind = KindOf(instr.op);
  if (!kind) return std::nullopt;
  const auto i = bytecode::op::Forward::Of(instr);
  return ComputeRef{*kind, i.chunk.value, i.mb.value};
}

bytecode::Instr ComputeInstr(const ComputeRef& what, SlotId in, SlotId out,
                             StashId stash) {
  namespace op = bytecode::op;
  const ChunkId chunk{what.chunk};
  const MicroBatch mb{what.mb};
  switch (what.kind) {
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

}  // namespace pp::analysis
