// The torch engine's factory; and the checks of a run before any rank starts.
#pragma once

#include <memory>

#include "runtime/engine/engine.h"
#include "runtime/engine/torch/setup.h"

namespace pp::engine::torch_engine {

// What both Prepare and tests with a model of their own go through: the cut
// into stages, the split of the batch. kUsage or kInput.
Result<std::shared_ptr<const Setup>> MakeSetup(
    const bytecode::Module& module, std::shared_ptr<const models::Model> model,
    const EngineConfig& config, uint32_t default_batch);

class TorchEngineFactory : public EngineFactory {
 public:
  Status Prepare(const bytecode::Module& module,
                 const EngineConfig& config) override;
  Result<std::unique_ptr<Engine>> Create(Rank rank) override;
  Result<std::unique_ptr<Reference>> CreateReference() override;

 private:
  std::shared_ptr<const Setup> setup_;
};

}  // namespace pp::engine::torch_engine
