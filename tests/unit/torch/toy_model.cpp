#include "tests/unit/torch/toy_model.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <utility>

#include "runtime/models/ops.h"

namespace pp::engine::torch_engine {
namespace {

using models::LayerRange;
using models::ParameterStore;
using models::Stage;
using models::WeightTape;
using models::WeightUse;

class ToyStage : public Stage {
 public:
  ToyStage(const LayerRange& range, ParameterStore& store) {
    if (range.first()) factors_.push_back(store.Use({"a", {1, 1}, {0, 3}}));
    if (range.last()) factors_.push_back(store.Use({"b", {1, 1}, {0, 2}}));
  }
  at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const override {
    at::Tensor y = x;
    for (WeightUse* w : factors_) y = models::Linear(y, w, nullptr, tape);
    return y;
  }

 private:
  std::vector<WeightUse*> factors_;
};

class Toy : public models::Model {
 public:
  explicit Toy(std::vector<float> x) : x_(std::move(x)) {}

  uint32_t Layers() const override { return 2; }
  std::unique_ptr<Stage> BuildStage(const LayerRange& range,
                                    ParameterStore& store) const override {
    return std::make_unique<ToyStage>(range, store);
  }
  std::vector<int64_t> BoundaryShape(int64_t rows,
                                     uint32_t /*layer*/) const override {
    return {rows, 1};
  }
  at::Tensor Losses(const at::Tensor& y, const at::Tensor&) const override {
    const at::Tensor error = y - 1;
    return error * error * 0.5;
  }
  int64_t UnitsPerRow() const override { return 1; }
  Status CheckBatch(uint32_t) const override { return OkStatus(); }
  at::Tensor Input(uint64_t, uint32_t) const override {
    return at::tensor(x_).view({-1, 1});
  }
  at::Tensor Target(uint64_t, uint32_t rows) const override {
    return at::zeros({rows, 1});
  }

 private:
  std::vector<float> x_;
};

}  // namespace

std::shared_ptr<const models::Model> ToyModel(std::vector<float> x) {
  return std::make_shared<const Toy>(std::move(x));
}

}  // namespace pp::engine::torch_engine
