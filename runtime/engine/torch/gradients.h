// Gradients of a store: zero, scale, add up the uses of shared parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/models/parameter_store.h"

namespace pp::engine::torch_engine {

void ZeroGradients(const models::ParameterStore& store);

// gradients of `chunk` *= factor. Then, for every parameter of the chunk whose
// uses have now all been scaled, the gradients of the uses are added into the
// first one. `scaled[c]`: chunk c has been, including `chunk`.
void ScaleGradients(const models::ParameterStore& store, size_t chunk,
                    double factor, const std::vector<bool>& scaled);

// What is on a GPU is copied into `copies`, where it stays readable.
void VisitStore(const models::ParameterStore& store,
                std::vector<at::Tensor>* copies,
                const std::function<void(const GradientView&)>& visit);

}  // namespace pp::engine::torch_engine
