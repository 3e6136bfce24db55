// The two-stage model that can be checked by hand: h = a x, y = b h, loss
// (y - 1)^2 / 2 a row, with a = 3 and b = 2.
#pragma once

#include <memory>
#include <vector>

#include "runtime/models/model.h"

namespace pp::engine::torch_engine {

std::shared_ptr<const models::Model> ToyModel(std::vector<float> x);

}  // namespace pp::engine::torch_engine
