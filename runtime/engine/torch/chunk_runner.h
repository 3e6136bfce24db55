// ChunkRunner: forward and both halves of backward of one stage.
//
// The forward of a micro-batch leaves a Pass: the graph's root (an edge, so
// the output's own memory is not kept), the input as a leaf, and the tape.
// The input half runs the graph, which frees itself as it goes; afterwards the
// Pass holds what the weight half needs and no more.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <cstdint>
#include <memory>

#include "runtime/models/model.h"

namespace pp::engine::torch_engine {

// One micro-batch between its forward and the end of its backward.
struct Pass {
  enum class State { kForwardDone, kInputHalfDone };

  State state = State::kForwardDone;
  at::Tensor input;  // leaf; undefined on the first stage
  torch::autograd::Edge root;
  int64_t losses = 0;  // count, on the last stage
  at::Device device = at::kCPU;
  models::WeightTape tape;
};

class ChunkRunner {
 public:
  ChunkRunner(const models::Model& model, const models::LayerRange& range,
              models::ParameterStore& store);

  const models::LayerRange& range() const { return range_; }
  bool first() const { return range_.first(); }
  bool last() const { return range_.last(); }

  // The stage's output (not on the last stage).
  at::Tensor Forward(const at::Tensor& x, Pass& pass) const;
  // Last stage: the sum of the losses, taken in double, as a tensor: on a GPU
  // its value is not there yet.
  at::Tensor ForwardLoss(const at::Tensor& x, const at::Tensor& target,
                         Pass& pass) const;

  // Gradient of the input (undefined on the first stage). `dy`: gradient of
  // the output, ignored on the last stage. kRunAtOnce: weight gradients too.
  at::Tensor Backward(const at::Tensor& dy, models::WeightTape::Mode mode,
                      Pass& pass) const;
  void BackwardWeight(Pass& pass) const;

 private:
  at::Tensor Run(const at::Tensor& x, Pass& pass) const;

  const models::Model& model_;
  models::LayerRange range_;
  std::unique_ptr<models::Stage> stage_;
};

}  // namespace pp::engine::torch_engine
