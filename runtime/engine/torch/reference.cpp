#include "runtime/engine/torch/reference.h"

#include <ATen/core/Tensor.h>

#include <utility>

#include "runtime/engine/torch/border.h"
#include "runtime/engine/torch/gradients.h"

namespace pp::engine::torch_engine {

TorchReference::TorchReference(std::shared_ptr<const Setup> setup)
    : setup_(std::move(setup)),
      device_(setup_->device),
      store_(setup_->seed, device_, setup_->init) {
  const uint32_t layers = setup_->model->Layers();
  whole_ = std::make_unique<ChunkRunner>(
      *setup_->model, models::LayerRange{0, layers, layers}, store_);
  optimizer_ = MakeOptimizer(setup_->optimizer, store_);
}

Result<std::unique_ptr<Reference>> TorchReference::Create(
    std::shared_ptr<const Setup> setup) {
  return AtBorder(
      "building the unpipelined model",
      [&]() -> Result<std::unique_ptr<Reference>> {
        UseOneThread();
        std::unique_ptr<TorchReference> made(
            new TorchReference(std::move(setup)));
        if (made->setup_->resumed) {
          PP_RETURN_IF_ERROR(RestoreState(
              *made->optimizer_, *made->setup_->init, *made->setup_->resumed));
        }
        return made;
      });
}

double TorchReference::RunMicroBatches(uint64_t step) {
  const at::Tensor input =
      setup_->model->Input(step, setup_->batch).to(device_);
  const at::Tensor target =
      setup_->model->Target(step, setup_->batch).to(device_);
  double loss = 0;
  for (uint32_t m = 0; m < setup_->module.micro_batches; ++m) {
    const MicroBatch mb(m);
    const auto rows = [&](const at::Tensor& batch) {
      return batch.narrow(0, setup_->FirstRow(mb), setup_->Rows(mb));
    };
    Pass pass;
    loss += whole_->ForwardLoss(rows(input), rows(target), pass).item<double>();
    whole_->Backward({}, models::WeightTape::Mode::kRunAtOnce, pass);
  }
  return loss;
}

Result<double> TorchReference::Step(uint64_t step) {
  return AtBorder("unpipelined step", [&]() -> Result<double> {
    UseOneThread();
    host_gradients_.clear();
    ZeroGradients(store_);
    const double loss = RunMicroBatches(step);
    ScaleGradients(store_, 0, 1.0 / setup_->Units(), {true});
    return loss / setup_->Units();
  });
}

Status TorchReference::Update() {
  return AtBorder("unpipelined update", [&]() -> Status {
    for (size_t i = 0; i < store_.parameters().size(); ++i) {
      optimizer_->Update(i);
    }
    return OkStatus();
  });
}

void TorchReference::VisitGradients(
    const std::function<void(const GradientView&)>& visit) const {
  VisitStore(store_, &host_gradients_, visit);
}

}  // namespace pp::engine::torch_engine
