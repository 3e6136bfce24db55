#include "runtime/models/registry.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "runtime/base/edit_distance.h"
#include "runtime/models/gpt.h"
#include "runtime/models/mlp.h"
#include "runtime/models/script.h"

namespace pp::models {
namespace {

using Maker = Result<std::shared_ptr<const Model>> (*)(const ModelConfig&);

struct ModelRow {
  std::string_view name;
  Maker make;
  uint32_t default_batch;
};

constexpr ModelRow kModels[] = {
#define PP_MODEL(name, Make, default_batch, help) {name, Make, default_batch},
#include "runtime/models/models.def"
};

Status UnknownModel(const std::string& name) {
  std::vector<std::string_view> known;
  for (const ModelRow& row : kModels) known.push_back(row.name);
  return UsageError(fmt::format("no model '{}'{} (there are: {})", name,
                                Suggestion(name, known),
                                fmt::join(known, ", ")));
}

}  // namespace

Result<MadeModel> MakeModel(const std::string& name, const GivenOptions& given,
                            uint64_t seed, const std::string& data,
                            const std::vector<std::string>& files,
                            const std::string& loss) {
  for (const ModelRow& row : kModels) {
    if (row.name != name) continue;
    PP_ASSIGN_OR_RETURN(ModelOptions options, ModelOptions::Parse(name, given));
    PP_ASSIGN_OR_RETURN(
        auto model, row.make({std::move(options), seed, data, files, loss}));
    return MadeModel{std::move(model), row.default_batch};
  }
  return Fail(UnknownModel(name));
}

}  // namespace pp::models
