// A perceptron on a regression that is made up from the seed: no data file.
//
// Layers x -> gelu(W x + b), the last one without GELU, all `dim` wide.
// Inputs are normal, the target of element j is sin(x_j + x_{j+1}); the loss
// is (y - t)^2 / 2 an element, and a unit is an element. Parameters:
// layers.N.{weight,bias}; weights start normal with deviation sqrt(2 / dim)
// (He et al., arXiv:1502.01852), biases zero.
#pragma once

#include <memory>

#include "runtime/base/status.h"
#include "runtime/models/model.h"

namespace pp::models {

Result<std::shared_ptr<const Model>> MakeMlp(const ModelConfig& config);

}  // namespace pp::models
