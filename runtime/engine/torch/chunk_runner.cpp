#include "runtime/engine/torch/chunk_runner.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace pp::engine::torch_engine {

using models::WeightTape;

ChunkRunner::ChunkRunner(const models::Model& model,
                         const models::LayerRange& range,
                         models::ParameterStore& store)
    : model_(model), range_(range), stage_(model.BuildStage(range, store)) {}

at::Tensor ChunkRunner::Run(const at::Tensor& x, Pass& pass) const {
  if (first()) return stage_->Forward(x, pass.tape);
  pass.input = x.detach().requires_grad_(true);
  return stage_->Forward(pass.input, pass.tape);
}

at::Tensor ChunkRunner::Forward(const at::Tensor& x, Pass& pass) const {
  at::AutoGradMode grad_mode(true);
  const at::Tensor y = Run(x, pass);
  pass.root = torch::autograd::impl::gradient_edge(y);
  return y.detach();
}

at::Tensor ChunkRunner::ForwardLoss(const at::Tensor& x,
                                    const at::Tensor& target,
                                    Pass& pass) const {
  at::AutoGradMode grad_mode(true);
  const at::Tensor losses = model_.Losses(Run(x, pass), target).reshape({-1});
  pass.root = torch::autograd::impl::gradient_edge(losses);
  pass.losses = losses.numel();
  pass.device = losses.device();
  return losses.detach().sum(at::kDouble);
}

at::Tensor ChunkRunner::Backward(const at::Tensor& dy, WeightTape::Mode mode,
                                 Pass& pass) const {
  at::NoGradGuard no_grad;
  pass.tape.SetMode(mode);
  const at::Tensor root_gradient =
      last() ? at::ones({pass.losses},
                        at::TensorOptions(at::kFloat).device(pass.device))
             : dy;
  {
    const torch::autograd::Edge root = std::exchange(pass.root, {});
    // accumulate_grad rather than a list of wanted outputs: all of the graph
    // must run, also a branch with weights that does not reach the input.
    torch::autograd::Engine::get_default_engine().execute(
        {root}, {root_gradient}, /*keep_graph=*/false, /*create_graph=*/false,
        /*accumulate_grad=*/true);
  }
  at::Tensor dx;
  if (pass.input.defined()) dx = pass.input.grad();
  pass.input.reset();
  pass.state = Pass::State::kInputHalfDone;
  return dx;
}

void ChunkRunner::BackwardWeight(Pass& pass) const {
  at::NoGradGuard no_grad;
  pass.tape.Run();
}

}  // namespace pp::engine::torch_engine
