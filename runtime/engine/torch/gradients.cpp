#include "runtime/engine/torch/gradients.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace pp::engine::torch_engine {

using models::ParameterStore;
using models::WeightUse;

void ZeroGradients(const ParameterStore& store) {
  for (const auto& use : store.uses()) use->gradient.zero_();
}

void ScaleGradients(const ParameterStore& store, size_t chunk, double factor,
                    const std::vector<bool>& scaled) {
  at::NoGradGuard no_grad;
  for (const auto& use : store.uses()) {
    if (use->chunk == chunk) use->gradient.mul_(factor);
  }
  for (const auto& parameter : store.parameters()) {
    const auto& uses = parameter->uses;
    const bool of_chunk = std::ranges::any_of(
        uses, [&](const WeightUse* use) { return use->chunk == chunk; });
    const bool complete = std::ranges::all_of(
        uses, [&](const WeightUse* use) { return scaled[use->chunk]; });
    if (!of_chunk || !complete) continue;
    for (size_t i = 1; i < uses.size(); ++i) {
      uses[0]->gradient.add_(uses[i]->gradient);
    }
  }
}

void VisitStore(const ParameterStore& store, std::vector<at::Tensor>* copies,
                const std::function<void(const GradientView&)>& visit) {
  for (const auto& parameter : store.parameters()) {
    at::Tensor gradient = parameter->uses.front()->gradient;
    if (!gradient.is_cpu()) {
      gradient = gradient.cpu();
      copies->push_back(gradient);
    }
    visit({parameter->name, gradient.const_data_ptr<float>(),
           static_cast<size_t>(gradient.numel())});
  }
}

}  // namespace pp::engine::torch_engine
