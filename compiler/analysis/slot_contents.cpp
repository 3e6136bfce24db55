#include "compiler/analysis/slot_contents.h"

namespace pp::analysis {
namespace {

using bytecode::Instr;
using bytecode::kNoSlot;
using bytecode::Opcode;
using bytecode::Payload;
namespace op = bytecode::op;

class Follower {
 public:
  Follower(const bytecode::Module& module, Rank rank,
           std::vector<Misfit>& misfits)
      : program_(module.programs[rank.value]),
        rank_(rank),
        misfits_(misfits),
        slots_(program_.slots) {}

  void Run() {
    for (pc_ = 0; pc_ < program_.code.size(); ++pc_) {
      Look(program_.code[pc_]);
    }
  }

 private:
  struct Held {
    Tensor tensor;
    Pc pc;
  };

  void Look(const Instr& instr) {
    switch (instr.op) {
      case Opcode::kForward: {
        const auto i = op::Forward::Of(instr);
        const StageId stage = StageOf(i.chunk);
        Read(i.in, {Payload::kAct, StageId(stage.value - 1), i.mb});
        Write(i.out, {Payload::kAct, stage, i.mb});
        break;
      }
      case Opcode::kBackward: {
        const auto i = op::Backward::Of(instr);
        Backward(i.chunk, i.mb, i.in, i.out);
        break;
      }
      case Opcode::kBackwardInput: {
        const auto i = op::BackwardInput::Of(instr);
        Backward(i.chunk, i.mb, i.in, i.out);
        break;
      }
      case Opcode::kSend:
        Read(op::Send::Of(instr).slot, TensorOf(instr));
        break;
      case Opcode::kRecv:
        Write(op::Recv::Of(instr).slot, TensorOf(instr));
        break;
      case Opcode::kFree:
        slots_[op::Free::Of(instr).slot.value].reset();
        break;
      case Opcode::kBackwardWeight:
      case Opcode::kWait:
      case Opcode::kGroupBegin:
      case Opcode::kGroupEnd:
      case Opcode::kScale:
      case Opcode::kReduce:
      case Opcode::kUpdate:
        break;
    }
  }

  StageId StageOf(ChunkId chunk) const {
    return program_.chunks[chunk.value].stage;
  }

  void Backward(ChunkId chunk, MicroBatch mb, SlotId in, SlotId out) {
    const StageId stage = StageOf(chunk);
    Read(in, {Payload::kGrad, StageId(stage.value + 1), mb});
    Write(out, {Payload::kGrad, stage, mb});
  }

  void Read(SlotId slot, const Tensor& wanted) {
    if (slot == kNoSlot) return;
    const std::optional<Held>& held = slots_[slot.value];
    if (held && held->tensor == wanted) return;
    const InstrRef at{rank_, Pc(pc_)};
    if (held) {
      misfits_.push_back({at, wanted, held->tensor, {rank_, held->pc}});
    } else {
      misfits_.push_back({at, wanted, std::nullopt, at});
    }
  }

  void Write(SlotId slot, const Tensor& tensor) {
    if (slot != kNoSlot) slots_[slot.value] = Held{tensor, Pc(pc_)};
  }

  const bytecode::RankProgram& program_;
  Rank rank_;
  std::vector<Misfit>& misfits_;
  std::vector<std::optional<Held>> slots_;
  uint32_t pc_ = 0;
};

}  // namespace

std::vector<Misfit> FindMisfits(const bytecode::Module& module) {
  std::vector<Misfit> misfits;
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    Follower(module, Rank(r), misfits).Run();
  }
  return misfits;
}

}  // namespace pp::analysis
