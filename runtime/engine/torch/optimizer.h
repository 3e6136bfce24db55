// Optimizers: plain float32 loops over one parameter, element by element, so
// the result does not depend on how parameters are spread over ranks.
//
//   sgd    w -= lr g                                  default lr 0.1
//   adamw  Loshchilov & Hutter, arXiv:1711.05101, algorithm 2, with Torch's
//          defaults: betas 0.9, 0.999, eps 1e-8, decay 0.01 (on matrices
//          only: not on biases and norms)             default lr 1e-3
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/models/parameter_store.h"

namespace pp::engine::torch_engine {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update of parameter number `index` of the store by its gradient.
  virtual void Update(size_t index) = 0;
  // So many updates have been made. The state visited may be written to.
  virtual void SetUpdates(uint64_t updates) { (void)updates; }
  virtual uint64_t StateBytes() const = 0;
  // Every tensor of its state, between two steps, with a name (engine.h).
  using Visit = std::function<void(const std::string&, const at::Tensor&)>;
  virtual void VisitState(const Visit& visit) const { (void)visit; }
};

struct OptimizerConfig {
  std::string name = "adamw";
  double learning_rate = 0;  // 0: the default of the optimizer
};

// What comes before a parameter's name in the names of state.
std::vector<std::string> StatePrefixes(const OptimizerConfig& config);

// kUsage: an unknown name, a rate that is negative or no number.
Status CheckOptimizer(const OptimizerConfig& config);

// `config` has been checked; `store` is complete and outlives the result.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerConfig& config,
                                         const models::ParameterStore& store);

// Goes on from a checkpoint after `updates` updates, whose names and shapes
// have been checked. kMachine: it cannot be read.
Status RestoreState(Optimizer& optimizer, const weights::File& file,
                    uint64_t updates);

}  // namespace pp::engine::torch_engine
