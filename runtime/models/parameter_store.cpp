#include "runtime/models/parameter_store.h"

#include <ATen/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "runtime/models/random.h"

namespace pp::models {
namespace {

at::Tensor Filled(uint64_t seed, const ParameterSpec& spec) {
  at::Tensor value = at::empty(spec.shape, at::kFloat);
  float* data = value.mutable_data_ptr<float>();
  const int64_t count = value.numel();
  if (spec.init.deviation == 0) {
    std::fill_n(data, count, static_cast<float>(spec.init.constant));
    return value;
  }
  Random random(seed, spec.name);
  for (int64_t i = 0; i < count; ++i) {
    data[i] = static_cast<float>(random.Normal() * spec.init.deviation +
                                 spec.init.constant);
  }
  return value;
}

}  // namespace

Parameter* ParameterStore::FindOrMake(const ParameterSpec& spec) {
  for (auto& parameter : parameters_) {
    if (parameter->name == spec.name) {
      TORCH_CHECK(parameter->value.sizes() == spec.shape, "parameter ",
                  spec.name, " is used with two shapes");
      return parameter.get();
    }
  }
  auto made = std::make_unique<Parameter>();
  made->name = spec.name;
  made->value = Filled(seed_, spec).to(device_);
  parameters_.push_back(std::move(made));
  return parameters_.back().get();
}

WeightUse* ParameterStore::Use(const ParameterSpec& spec) {
  Parameter* parameter = FindOrMake(spec);
  auto use = std::make_unique<WeightUse>();
  use->parameter = parameter;
  use->value = parameter->value;
  use->gradient = at::zeros_like(parameter->value);
  use->chunk = chunk_;
  parameter->uses.push_back(use.get());
  uses_.push_back(std::move(use));
  return uses_.back().get();
}

}  // namespace pp::models
