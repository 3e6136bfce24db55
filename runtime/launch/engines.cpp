#include "runtime/launch/engines.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>

#include "runtime/base/edit_distance.h"
#include "runtime/device/plugin.h"
#include "runtime/engine/plugin.h"
#include "runtime/engine/synthetic/synthetic.h"

namespace pp::launch {
namespace {

constexpr const char kTorchLibrary[] = "libpp_engine_torch.so";
constexpr const char kCudaLibrary[] = "libpp_cuda.so";

// $ORIGIN/../lib of the program.
std::string LibraryPath(const char* library) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return library;
  std::string folder(path, static_cast<size_t>(length));
  folder.resize(folder.rfind('/'));
  return folder + "/../lib/" + library;
}

Status NoEngine(std::string_view model, const std::string& why) {
  return MachineError(
      fmt::format("model '{}' needs the LibTorch engine: {}", model, why));
}

Result<std::unique_ptr<engine::EngineFactory>> OpenPlugin(
    std::string_view model) {
  const std::string path = LibraryPath(kTorchLibrary);
  if (access(path.c_str(), F_OK) != 0) {
    return Fail(NoEngine(
        model, fmt::format("this build has no LibTorch ({} is not there); "
                           "configure it with -DPP_BUILD_TORCH=ON, or use "
                           "--model synthetic",
                           path)));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(NoEngine(model, dlerror()));
  const auto abi =
      reinterpret_cast<decltype(&PpEngineAbi)>(dlsym(library, "PpEngineAbi"));
  const auto create = reinterpret_cast<decltype(&PpCreateEngineFactory)>(
      dlsym(library, "PpCreateEngineFactory"));
  if (abi == nullptr || create == nullptr) {
    return Fail(NoEngine(model, path + " is no engine of this project"));
  }
  if (std::string_view(abi()) != engine::kEngineAbi) {
    return Fail(NoEngine(
        model, fmt::format("{} was built for '{}', this program for '{}': "
                           "build both again",
                           path, abi(), engine::kEngineAbi)));
  }
  return std::unique_ptr<engine::EngineFactory>(create());
}

Status NoDevice(const std::string& why) {
  return MachineError("--device cuda: " + why);
}

Result<std::shared_ptr<device::Driver>> OpenCuda() {
  const std::string path = LibraryPath(kCudaLibrary);
  if (access(path.c_str(), F_OK) != 0) {
    return Fail(NoDevice(fmt::format(
        "this build has no CUDA ({} is not there); `./setup --cuda` "
        "brings it, then build again",
        path)));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(NoDevice(dlerror()));
  const auto abi =
      reinterpret_cast<decltype(&PpDeviceAbi)>(dlsym(library, "PpDeviceAbi"));
  const auto create = reinterpret_cast<decltype(&PpCreateDriver)>(
      dlsym(library, "PpCreateDriver"));
  if (abi == nullptr || create == nullptr) {
    return Fail(NoDevice(path + " is no driver of this project"));
  }
  if (std::string_view(abi()) != device::kDeviceAbi) {
    return Fail(NoDevice(fmt::format(
        "{} was built for '{}', this program for '{}': build both again", path,
        abi(), device::kDeviceAbi)));
  }
  Status why;
  std::shared_ptr<device::Driver> driver(create(&why));
  if (driver == nullptr) return Fail(NoDevice(why.message()));
  return driver;
}

}  // namespace

Result<std::shared_ptr<device::Driver>> OpenDevice(std::string_view name) {
  constexpr std::string_view kNames[] = {"cpu", "cuda"};
  if (name == kNames[0]) return nullptr;
  if (name == kNames[1]) return OpenCuda();
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
