#include "runtime/launch/engines.h"

#include <fmt/format.h>

#include "runtime/base/edit_distance.h"
#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/launch/library.h"

namespace pp::launch {
namespace {

constexpr const char kTorchLibrary[] = "libpp_engine_torch.so";
constexpr const char kCudaLibrary[] = "libpp_cuda.so";

Result<std::unique_ptr<engine::EngineFactory>> OpenPlugin(
    std::string_view model) {
  auto factory = OpenEngineLibrary(kTorchLibrary);
  if (factory) return factory;
  return Fail(MachineError(
      fmt::format("model '{}' needs the LibTorch engine: {}; configure with "
                  "-DPP_BUILD_TORCH=ON, or use --model synthetic",
                  model, factory.error().message())));
}

}  // namespace

Result<std::shared_ptr<device::Driver>> OpenDevice(std::string_view name) {
  constexpr std::string_view kNames[] = {"cpu", "cuda"};
  if (name == kNames[0]) return nullptr;
  if (name == kNames[1]) {
    auto driver = OpenDeviceLibrary(kCudaLibrary);
    if (driver) return driver;
    return Fail(driver.error().WithContext("--device cuda"));
  }
  return Fail(UsageError(fmt::format("unknown device '{}'{} (cpu, cuda)", name,
                                     Suggestion(name, kNames))));
}

const std::vector<ModelRow>& AllModels() {
  static const std::vector<ModelRow> rows = {
      {"synthetic", "work of a given duration, no mathematics", false},
#define PP_MODEL(name, Maker, default_batch, help) {name, help, true},
#include "runtime/models/models.def"
  };
  return rows;
}

Result<std::unique_ptr<engine::EngineFactory>> OpenEngine(
    std::string_view model) {
  std::vector<std::string_view> names;
  for (const ModelRow& row : AllModels()) {
    if (row.name == model) {
      if (row.plugin) return OpenPlugin(model);
      return engine::synthetic::CreateFactory();
    }
    names.push_back(row.name);
  }
  return Fail(UsageError(
      fmt::format("unknown model '{}'{}", model, Suggestion(model, names))));
}

}  // namespace pp::launch
