#include "runtime/models/mlp.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "runtime/models/ops.h"
#include "runtime/models/random.h"

namespace pp::models {
namespace {

class MlpStage : public Stage {
 public:
  MlpStage(int64_t dim, const LayerRange& range, ParameterStore& store)
      : range_(range) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(dim));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const std::string at = fmt::format("layers.{}.", i);
      weights_.push_back(store.Use({at + "weight", {dim, dim}, {deviation}}));
      biases_.push_back(store.Use({at + "bias", {dim}, {}}));
    }
  }

  at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const override {
    at::Tensor h = x;
    for (size_t i = 0; i < weights_.size(); ++i) {
      h = Linear(h, weights_[i], biases_[i], tape);
      const bool very_last = range_.last() && i + 1 == weights_.size();
      if (!very_last) h = at::gelu(h);
    }
    return h;
  }

 private:
  LayerRange range_;
  std::vector<WeightUse*> weights_, biases_;
};

class Mlp : public Model {
 public:
  Mlp(uint32_t layers, int64_t dim, uint64_t seed)
      : layers_(layers), dim_(dim), seed_(seed) {}

  uint32_t Layers() const override { return layers_; }
  std::unique_ptr<Stage> BuildStage(const LayerRange& range,
                                    ParameterStore& store) const override {
    return std::make_unique<MlpStage>(dim_, range, store);
  }
  std::vector<int64_t> BoundaryShape(int64_t rows,
                                     uint32_t /*layer*/) const override {
    return {rows, dim_};
  }
  at::Tensor Losses(const at::Tensor& output,
                    const at::Tensor& target) const override {
    const at::Tensor error = output - target;
    return error * error * 0.5;
  }
  int64_t UnitsPerRow() const override { return dim_; }
  Status CheckBatch(uint32_t) const override { return OkStatus(); }

  at::Tensor Input(uint64_t step, uint32_t rows) const override {
    at::Tensor x = at::empty({rows, dim_}, at::kFloat);
    float* out = x.mutable_data_ptr<float>();
    for (uint32_t row = 0; row < rows; ++row) {
      Random random(seed_, "data.input", step, row);
      for (int64_t j = 0; j < dim_; ++j) {
        *out++ = static_cast<float>(random.Normal());
      }
    }
    return x;
  }
  at::Tensor Target(uint64_t step, uint32_t rows) const override {
    const at::Tensor x = Input(step, rows);
    return at::sin(x + x.roll(-1, 1));
  }

 private:
  uint32_t layers_;
  int64_t dim_;
  uint64_t seed_;
};

}  // namespace

Result<std::shared_ptr<const Model>> MakeMlp(const ModelConfig& config) {
  if (!config.data.empty()) {
    return Fail(UsageError(
        "model mlp makes its own data; --data is for the model gpt"));
  }
  return std::make_shared<const Mlp>(
      static_cast<uint32_t>(config.options.Get("layers")),
      config.options.Get("dim"), config.seed);
}

}  // namespace pp::models
