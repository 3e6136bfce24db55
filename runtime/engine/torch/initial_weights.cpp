#include "runtime/engine/torch/initial_weights.h"

#include <fmt/core.h>

#include <set>
#include <string_view>
#include <vector>

#include "runtime/base/edit_distance.h"
#include "runtime/base/quote.h"

namespace pp::engine::torch_engine {
namespace {

Status CheckOne(const std::string& model_name, const std::string& name,
                const weights::Shape& shape, const weights::File& file) {
  const weights::TensorInfo* found = file.Find(name);
  if (found == nullptr) {
    return InputError(
        fmt::format("`{}` has no tensor {}; model {} needs it, {}", file.path(),
                    Quote(name), model_name, weights::ShapeText(shape)));
  }
  if (found->shape == shape && found->dtype == "F32") return OkStatus();
  return InputError(fmt::format(
      "`{}`: tensor {} is {} {}, but {} F32 in model {} with these options",
      file.path(), Quote(name), weights::ShapeText(found->shape), found->dtype,
      weights::ShapeText(shape), model_name));
}

}  // namespace

Status CheckInitialWeights(const std::string& model_name,
                           const models::Model& model,
                           const weights::File& file,
                           const std::vector<std::string>& state) {
  // Shapes only: the whole model may be larger than any one rank's memory.
  models::ParameterStore store(0, at::kMeta);
  (void)model.BuildStage({0, model.Layers(), model.Layers()}, store);
  std::set<std::string> names;
  for (const auto& parameter : store.parameters()) {
    const weights::Shape shape = parameter->value.sizes().vec();
    names.insert(parameter->name);
    PP_RETURN_IF_ERROR(CheckOne(model_name, parameter->name, shape, file));
    for (const std::string& prefix : state) {
      const std::string name = prefix + parameter->name;
      names.insert(name);
      PP_RETURN_IF_ERROR(CheckOne(model_name, name, shape, file));
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, info] : file.header().tensors) {
    if (names.contains(name)) continue;
    return InputError(fmt::format(
        "`{}`: tensor {} is no parameter of model {} with these options{}",
        file.path(), Quote(name), model_name, Suggestion(name, known)));
  }
  return OkStatus();
}

}  // namespace pp::engine::torch_engine
