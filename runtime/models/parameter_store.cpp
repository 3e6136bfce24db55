#include "runtime/models/parameter_store.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "runtime/models/random.h"

namespace pp::models {

at::Tensor ParameterStore::Filled(const ParameterSpec& spec) const {
  if (device_.is_meta()) return at::empty(spec.shape, device_);
  const at::NoGradGuard no_grad;
  at::Tensor value = at::empty(spec.shape, at::kFloat);
  float* data = value.mutable_data_ptr<float>();
  const int64_t count = value.numel();
  if (init_ != nullptr) {
    const Status read =
        init_->Read(spec.name, {data, static_cast<size_t>(count)});
    TORCH_CHECK(read.ok(), read.message());
    return value.to(device_);
  }
  if (spec.start.defined()) {
    value.copy_(spec.start);
    return value.to(device_);
  }
  if (spec.init.deviation == 0) {
    std::fill_n(data, count, static_cast<float>(spec.init.constant));
    return value.to(device_);
  }
  Random random(seed_, spec.name);
  for (int64_t i = 0; i < count; ++i) {
    data[i] = static_cast<float>(random.Normal() * spec.init.deviation +
                                 spec.init.constant);
  }
  return value.to(device_);
}

Parameter* ParameterStore::FindOrMake(const ParameterSpec& spec) {
  Parameter*& found = by_name_[spec.name];
  if (found != nullptr) {
    TORCH_CHECK(found->value.sizes() == spec.shape, "parameter ", spec.name,
                " is used with two shapes");
    return found;
  }
  auto made = std::make_unique<Parameter>();
  made->name = spec.name;
  made->value = Filled(spec);
  parameters_.push_back(std::move(made));
  found = parameters_.back().get();
  return found;
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
