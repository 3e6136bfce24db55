// Whether a file holds exactly the parameters of a model.
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/models/model.h"
#include "runtime/weights/safetensors.h"

namespace pp::engine::torch_engine {

// kInput naming file and tensor: one is missing, one is no parameter of the
// model (did you mean), one has another shape or is not F32. Throws c10::Error
// where the model does.
Status CheckInitialWeights(const std::string& model_name,
                           const models::Model& model,
                           const weights::File& file);

}  // namespace pp::engine::torch_engine
