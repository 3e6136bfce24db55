// Options of a model as given on the command line, checked against models.def.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace pp::models {

using GivenOptions = std::vector<std::pair<std::string, std::string>>;

// The value of every option of one model.
class ModelOptions {
 public:
  // kUsage: an unknown name (with the nearest known one), a value that is no
  // whole number or out of range. The last of several equal names counts.
  static Result<ModelOptions> Parse(std::string_view model,
                                    const GivenOptions& given);

  int64_t Get(std::string_view name) const;  // 0 for a name not in the table

 private:
  std::vector<std::pair<std::string, int64_t>> values_;
};

}  // namespace pp::models
