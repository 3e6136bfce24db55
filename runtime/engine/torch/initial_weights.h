// Whether a file holds exactly the parameters of a model.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/models/model.h"
#include "runtime/weights/safetensors.h"

namespace pp::engine::torch_engine {

// `state`: what comes before a parameter's name in the names of the optimizer's
// state, which is there too. kInput naming file and tensor: one is missing, one
// is no parameter of the model (did you mean), one has another shape or is not
// F32. Throws c10::Error where the model does.
Status CheckInitialWeights(const std::string& model_name,
                           const models::Model& model,
                           const weights::File& file,
                           const std::vector<std::string>& state);

}  // namespace pp::engine::torch_engine
