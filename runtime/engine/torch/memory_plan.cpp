#include "runtime/engine/torch/memory_plan.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "runtime/base/buffer.h"
#include "runtime/bytecode/instr.h"
#include "runtime/engine/torch/tensor_buffer.h"

namespace pp::engine::torch_engine {
namespace {

using bytecode::Opcode;
using models::WeightTape;

// Runs f(in), which returns the output or an undefined tensor, and drops
// input and output in the order in which a program frees their slots.
template <class F>
OpBytes Measure(Ledger& ledger, at::Tensor in, F&& f) {
  OpBytes bytes;
  const int64_t before = ledger.live();
  ledger.ResetPeak();
  Buffer out;
  if (at::Tensor y = f(in); y.defined()) out = ToBuffer(y);
  bytes.peak = ledger.peak() - before;
  bytes.after = ledger.live() - before;
  int64_t held = ledger.live();
  in.reset();
  bytes.in_release = held - ledger.live();
  held = ledger.live();
  out = {};
  bytes.out_release = held - ledger.live();
  return bytes;
}

class Sizer {
 public:
  Sizer(const Setup& setup, const ChunkRunner& chunk, uint32_t rows,
        Ledger& ledger)
      : chunk_(chunk), ledger_(ledger), model_(*setup.model), rows_(rows) {
    if (chunk.first()) {
      data_ = setup.model->Input(0, setup.batch).narrow(0, 0, rows);
    }
    if (chunk.last()) {
      target_ = setup.model->Target(0, setup.batch).narrow(0, 0, rows);
    }
  }

  OpBytes Forward(Pass& pass) const {
    return Measure(ledger_, Boundary(chunk_.first(), chunk_.range().begin),
                   [&](const at::Tensor& in) {
                     const at::Tensor& x = chunk_.first() ? data_ : in;
                     if (!chunk_.last()) return chunk_.Forward(x, pass);
                     chunk_.ForwardLoss(x, target_, pass);
                     return at::Tensor();
                   });
  }
  OpBytes Backward(Pass& pass, WeightTape::Mode mode) const {
    return Measure(
        ledger_, Boundary(chunk_.last(), chunk_.range().end),
        [&](const at::Tensor& dy) { return chunk_.Backward(dy, mode, pass); });
  }
  OpBytes Weight(Pass& pass) const {
    return Measure(ledger_, {}, [&](const at::Tensor&) {
      chunk_.BackwardWeight(pass);
      return at::Tensor();
    });
  }

 private:
  at::Tensor Boundary(bool has_none, uint32_t layer) const {
    return has_none ? at::Tensor()
                    : at::zeros(model_.BoundaryShape(rows_, layer), at::kFloat);
  }

  const ChunkRunner& chunk_;
  Ledger& ledger_;
  const models::Model& model_;
  int64_t rows_;
  at::Tensor data_, target_;
};

// Live bytes along the instructions.
class Walk {
 public:
  Walk(const Setup& setup, const bytecode::RankProgram& program,
       const std::vector<std::vector<ChunkBytes>>& sizes, int64_t fixed)
      : setup_(setup),
        sizes_(sizes),
        slots_(program.slots),
        live_(fixed),
        peak_(fixed) {}

  void Run(const bytecode::Instr& instr) {
    namespace op = bytecode::op;
    switch (instr.op) {
      case Opcode::kForward:
        return Compute(op::Forward::Of(instr), &ChunkBytes::forward);
      case Opcode::kBackward:
        return Compute(op::Backward::Of(instr), &ChunkBytes::backward);
      case Opcode::kBackwardInput:
        return Compute(op::BackwardInput::Of(instr),
                       &ChunkBytes::backward_input);
      case Opcode::kBackwardWeight: {
        const auto in = op::BackwardWeight::Of(instr);
        return Count(sizes_[in.chunk.value][in.mb.value].backward_weight);
      }
      case Opcode::kRecv:
        return Receive(op::Recv::Of(instr));
      case Opcode::kFree:
        return Free(op::Free::Of(instr).slot);
      case Opcode::kSend:
      case Opcode::kWait:
      case Opcode::kGroupBegin:
      case Opcode::kGroupEnd:
      case Opcode::kScale:
      case Opcode::kReduce:
      case Opcode::kUpdate:
        return;
    }
  }

  int64_t peak() const { return peak_; }

 private:
  template <class Op>
  void Compute(const Op& in, OpBytes ChunkBytes::*which) {
    const OpBytes& bytes = sizes_[in.chunk.value][in.mb.value].*which;
    Count(bytes);
    if (in.in != bytecode::kNoSlot) slots_[in.in.value] = bytes.in_release;
    if (in.out != bytecode::kNoSlot) slots_[in.out.value] = bytes.out_release;
  }
  void Count(const OpBytes& bytes) {
    peak_ = std::max(peak_, live_ + bytes.peak);
    live_ += bytes.after;
  }
  void Receive(const bytecode::op::Recv& in) {
    int64_t bytes = sizeof(float);
    for (int64_t n : setup_.Boundary(in.payload, in.stage, in.mb)) {
      bytes *= n;
    }
    slots_[in.slot.value] = bytes;
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  void Free(SlotId slot) {
    live_ -= slots_[slot.value];
    slots_[slot.value] = 0;
  }

  const Setup& setup_;
  const std::vector<std::vector<ChunkBytes>>& sizes_;
  std::vector<int64_t> slots_;  // what freeing each one would give back
  int64_t live_;
  int64_t peak_;
};

}  // namespace

ChunkBytes MeasureChunk(const Setup& setup, const ChunkRunner& chunk,
                        uint32_t rows, Ledger& ledger) {
  const Sizer sizer(setup, chunk, rows, ledger);
  ChunkBytes bytes;
  {
    Pass pass;
    bytes.forward = sizer.Forward(pass);
    bytes.backward = sizer.Backward(pass, WeightTape::Mode::kRunAtOnce);
  }
  Pass pass;
  sizer.Forward(pass);
  bytes.backward_input = sizer.Backward(pass, WeightTape::Mode::kDefer);
  bytes.backward_weight = sizer.Weight(pass);
  return bytes;
}

uint64_t PredictPeak(const Setup& setup, const bytecode::RankProgram& program,
                     const std::vector<std::vector<ChunkBytes>>& sizes,
                     int64_t fixed) {
  Walk walk(setup, program, sizes, fixed);
  for (const bytecode::Instr& instr : program.code) walk.Run(instr);
  return static_cast<uint64_t>(walk.peak());
}

}  // namespace pp::engine::torch_engine
