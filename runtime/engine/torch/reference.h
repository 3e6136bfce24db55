// The whole model as one stage in one process (engine.h, Reference).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/engine/torch/chunk_runner.h"
#include "runtime/engine/torch/setup.h"

namespace pp::engine::torch_engine {

class TorchReference : public Reference {
 public:
  static Result<std::unique_ptr<Reference>> Create(
      std::shared_ptr<const Setup> setup);

  Result<double> Step(uint64_t step) override;
  Status Update() override;
  void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const override;

 private:
  explicit TorchReference(std::shared_ptr<const Setup> setup);

  double RunMicroBatches(uint64_t step);

  std::shared_ptr<const Setup> setup_;
  at::Device device_;
  models::ParameterStore store_;
  mutable std::vector<at::Tensor> host_gradients_;
  std::unique_ptr<ChunkRunner> whole_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace pp::engine::torch_engine
