// Model: a list of layers that can be cut into stages anywhere between two.
//
// A model holds no weights: BuildStage asks a ParameterStore for those of its
// layers, so each rank keeps what its stages need. It makes the data too, a
// pure function of (seed, step, row). Immutable after creation; called by
// several ranks' threads at once. Failures inside throw c10::Error (the
// engine's border converts); what the user can cause is a Status.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/models/options.h"
#include "runtime/models/parameter_store.h"
#include "runtime/models/partition.h"
#include "runtime/models/weight_tape.h"

namespace pp::models {

class Stage {
 public:
  virtual ~Stage() = default;
  // x: the model's input on the first stage, else the output of the stage
  // before. Result: what Model::Losses takes on the last stage.
  virtual at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const = 0;
};

class Model {
 public:
  virtual ~Model() = default;

  virtual uint32_t Layers() const = 0;
  virtual std::unique_ptr<Stage> BuildStage(const LayerRange& range,
                                            ParameterStore& store) const = 0;
  // Names of the parameters that first and last stage share; may be empty.
  virtual std::vector<std::string> Tied() const { return {}; }
  // The float32 tensor that layer `layer` takes from the one before, of `rows`
  // rows; 0 < layer < Layers().
  virtual std::vector<int64_t> BoundaryShape(int64_t rows,
                                             uint32_t layer) const = 0;

  // One loss per unit, differentiable, float32; the micro-batch's loss is
  // their sum.
  virtual at::Tensor Losses(const at::Tensor& output,
                            const at::Tensor& target) const = 0;
  virtual int64_t UnitsPerRow() const = 0;

  // Rows where neither the user nor models.def says how many.
  virtual uint32_t DefaultBatch() const { return 1; }
  // What a batch of this size cannot be made of.
  virtual Status CheckBatch(uint32_t rows) const = 0;
  virtual at::Tensor Input(uint64_t step, uint32_t rows) const = 0;
  virtual at::Tensor Target(uint64_t step, uint32_t rows) const = 0;
};

struct ModelConfig {
  ModelOptions options;
  uint64_t seed = 1;
  std::string data;                  // path of a file, or empty
  std::vector<std::string> files{};  // TorchScript stages
  std::string loss{};                // their loss: a name or a file
};

}  // namespace pp::models
