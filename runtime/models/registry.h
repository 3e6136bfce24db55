// The models by name (models.def).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/models/model.h"

namespace pp::models {

struct MadeModel {
  std::shared_ptr<const Model> model;
  uint32_t default_batch = 0;  // rows
};

// kUsage: no such model or option (with the nearest one), options that do not
// fit together; kInput: the data file.
Result<MadeModel> MakeModel(const std::string& name, const GivenOptions& given,
                            uint64_t seed, const std::string& data,
                            const std::vector<std::string>& files = {},
                            const std::string& loss = {});

}  // namespace pp::models
