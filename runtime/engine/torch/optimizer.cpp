#include "runtime/engine/torch/optimizer.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string_view>

#include "runtime/base/edit_distance.h"

namespace pp::engine::torch_engine {
namespace {

using models::Parameter;
using models::ParameterStore;

// With kStateMark at the end.
const std::string kMean = "adamw.mean/", kSquare = "adamw.square/";

struct Span {
  float* weight;
  const float* gradient;
  int64_t count;
};

Span SpanOf(const Parameter& parameter) {
  return {parameter.value.mutable_data_ptr<float>(),
          parameter.uses.front()->gradient.const_data_ptr<float>(),
          parameter.value.numel()};
}

bool OnGpu(const Parameter& parameter) { return !parameter.value.is_cpu(); }

class Sgd : public Optimizer {
 public:
  Sgd(double rate, const ParameterStore& store) : rate_(rate), store_(store) {}

  void Update(size_t index) override {
    if (OnGpu(*store_.parameters()[index])) return UpdateOnGpu(index);
    const Span span = SpanOf(*store_.parameters()[index]);
    const auto rate = static_cast<float>(rate_);
    for (int64_t i = 0; i < span.count; ++i) {
      span.weight[i] -= rate * span.gradient[i];
    }
  }
  uint64_t StateBytes() const override { return 0; }

 private:
  void UpdateOnGpu(size_t index) {
    at::NoGradGuard no_grad;
    const Parameter& parameter = *store_.parameters()[index];
    at::Tensor weight = parameter.value;
    weight.sub_(parameter.uses.front()->gradient, rate_);
  }

  double rate_;
  const ParameterStore& store_;
};

class AdamW : public Optimizer {
 public:
  AdamW(double rate, const ParameterStore& store) : rate_(rate), store_(store) {
    for (const auto& parameter : store.parameters()) {
      moments_.push_back({at::zeros_like(parameter->value),
                          at::zeros_like(parameter->value), 0});
    }
  }

  void Update(size_t index) override {
    const Parameter& parameter = *store_.parameters()[index];
    Moments& moments = moments_[index];
    ++moments.updates;
    if (OnGpu(parameter)) return ApplyOnGpu(parameter, moments);
    Apply(SpanOf(parameter), parameter.value.dim() >= 2,
          moments.mean.mutable_data_ptr<float>(),
          moments.square.mutable_data_ptr<float>(), moments.updates);
  }
  uint64_t StateBytes() const override {
    uint64_t bytes = 0;
    for (const Moments& m : moments_) {
      bytes += m.mean.nbytes() + m.square.nbytes();
    }
    return bytes;
  }
  void SetUpdates(uint64_t updates) override {
    for (Moments& m : moments_) m.updates = static_cast<int64_t>(updates);
  }
  void VisitState(const Visit& visit) const override {
    for (size_t i = 0; i < moments_.size(); ++i) {
      const std::string& name = store_.parameters()[i]->name;
      visit(kMean + name, moments_[i].mean);
      visit(kSquare + name, moments_[i].square);
    }
  }

 private:
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-8, kDecay = 0.01;

  struct Moments {
    at::Tensor mean, square;
    int64_t updates;
  };

  // The same formula in whole-tensor operations: the loops below need the host.
  void ApplyOnGpu(const Parameter& parameter, Moments& moments) const {
    at::NoGradGuard no_grad;
    const double n = static_cast<double>(moments.updates);
    const at::Tensor& g = parameter.uses.front()->gradient;
    at::Tensor weight = parameter.value;
    moments.mean.mul_(kBeta1).add_(g, 1 - kBeta1);
    moments.square.mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
    const at::Tensor spread = moments.square.sqrt()
                                  .mul_(1 / std::sqrt(1 - std::pow(kBeta2, n)))
                                  .add_(kEpsilon);
    if (weight.dim() >= 2) weight.mul_(1 - rate_ * kDecay);
    weight.addcdiv_(moments.mean, spread, -rate_ / (1 - std::pow(kBeta1, n)));
  }

  void Apply(const Span& span, bool decays, float* mean, float* square,
             int64_t t) const {
    const auto b1 = static_cast<float>(kBeta1);
    const auto b2 = static_cast<float>(kBeta2);
    const double n = static_cast<double>(t);
    const auto step = static_cast<float>(rate_ / (1 - std::pow(kBeta1, n)));
    const auto root =
        static_cast<float>(1 / std::sqrt(1 - std::pow(kBeta2, n)));
    const auto keep = static_cast<float>(decays ? 1 - rate_ * kDecay : 1);
    const auto epsilon = static_cast<float>(kEpsilon);
    for (int64_t i = 0; i < span.count; ++i) {
      const float g = span.gradient[i];
      mean[i] = b1 * mean[i] + (1 - b1) * g;
      square[i] = b2 * square[i] + (1 - b2) * g * g;
      span.weight[i] = span.weight[i] * keep -
                       step * mean[i] / (std::sqrt(square[i]) * root + epsilon);
    }
  }

  double rate_;
  const ParameterStore& store_;
  std::vector<Moments> moments_;
};

}  // namespace

Status CheckOptimizer(const OptimizerConfig& config) {
  constexpr std::string_view kNames[] = {"sgd", "adamw"};
  if (config.name != kNames[0] && config.name != kNames[1]) {
    return UsageError(fmt::format("no optimizer '{}'{} (there are: {})",
                                  config.name, Suggestion(config.name, kNames),
                                  fmt::join(kNames, ", ")));
  }
  if (!std::isfinite(config.learning_rate) || config.learning_rate < 0) {
    return UsageError(fmt::format("learning rate {} is no positive number",
                                  config.learning_rate));
  }
  return OkStatus();
}

std::vector<std::string> StatePrefixes(const OptimizerConfig& config) {
  if (config.name == "sgd") return {};
  return {kMean, kSquare};
}

Status RestoreState(Optimizer& optimizer, const weights::File& file,
                    uint64_t updates) {
  Status status;
  optimizer.SetUpdates(updates);
  optimizer.VisitState([&](const std::string& name, const at::Tensor& tensor) {
    if (!status.ok()) return;
    at::Tensor host = at::empty(tensor.sizes(), at::kFloat);
    status = file.Read(name, {host.mutable_data_ptr<float>(),
                              static_cast<size_t>(host.numel())});
    tensor.copy_(host);
  });
  return status;
}

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerConfig& config,
                                         const ParameterStore& store) {
  const double rate = config.learning_rate;
  if (config.name == "sgd") {
    return std::make_unique<Sgd>(rate == 0 ? 0.1 : rate, store);
  }
  return std::make_unique<AdamW>(rate == 0 ? 1e-3 : rate, store);
}

}  // namespace pp::engine::torch_engine
