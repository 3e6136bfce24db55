#include "runtime/engine/synthetic/predict.h"

#include <algorithm>

namespace pp::engine::synthetic {
namespace {

using bytecode::Opcode;
namespace op = bytecode::op;

// Follows one program. A slot holds data from its first writer to FREE.
class Walk {
 public:
  Walk(const bytecode::RankProgram& program, const Sizes& sizes)
      : sizes_(sizes), full_(program.slots, false) {}

  uint64_t peak() const { return peak_; }

  // `out` comes to life while the stash is still there, as in the engine.
  void Step(const bytecode::Instr& instr) {
    switch (instr.op) {
      case Opcode::kForward:
        live_ += sizes_.activation;
        return Fill(op::Forward::Of(instr).out);
      case Opcode::kBackward:
        Fill(op::Backward::Of(instr).out);
        live_ -= sizes_.activation;
        return;
      case Opcode::kBackwardInput:
        Fill(op::BackwardInput::Of(instr).out);
        live_ += sizes_.after_input - sizes_.activation;
        return Fill(bytecode::kNoSlot);
      case Opcode::kBackwardWeight:
        live_ -= sizes_.after_input;
        return;
      case Opcode::kWait:
        return Fill(op::Wait::Of(instr).slot);
      case Opcode::kFree:
        return Empty(op::Free::Of(instr).slot);
      case Opcode::kSend:
      case Opcode::kRecv:
      case Opcode::kGroupBegin:
      case Opcode::kGroupEnd:
      case Opcode::kScale:
      case Opcode::kReduce:
      case Opcode::kUpdate:
        return;
    }
  }

 private:
  void Fill(SlotId slot) {
    if (slot != bytecode::kNoSlot && !full_[slot.value]) {
      full_[slot.value] = true;
      live_ += sizes_.message;
    }
    peak_ = std::max(peak_, live_);
  }
  void Empty(SlotId slot) {
    full_[slot.value] = false;
    live_ -= sizes_.message;
  }

  Sizes sizes_;
  std::vector<bool> full_;
  uint64_t live_ = 0;
  uint64_t peak_ = 0;
};

}  // namespace

uint64_t PredictPeak(const bytecode::RankProgram& program, const Sizes& sizes) {
  Walk walk(program, sizes);
  for (const bytecode::Instr& instr : program.code) walk.Step(instr);
  return walk.peak();
}

}  // namespace pp::engine::synthetic
