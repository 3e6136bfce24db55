// Which engine runs a model: the built-in synthetic one, or one in a shared
// library beside the program; and on what device.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"

namespace pp::launch {

struct ModelRow {
  std::string_view name;
  std::string_view help;
  bool plugin;  // needs libpp_engine_torch.so
};

const std::vector<ModelRow>& AllModels();

// kUsage: no such model (did you mean). kMachine: the engine's library is not
// there, cannot be opened, or was built for another version of this program.
// Libraries stay open until the process ends.
Result<std::unique_ptr<engine::EngineFactory>> OpenEngine(
    std::string_view model);

// What drives the GPUs of `--device cuda`; null for `cpu`. kUsage: no such
// device. kMachine: this build has no CUDA, or the machine no GPU that can be
// used.
Result<std::shared_ptr<device::Driver>> OpenDevice(std::string_view name);

}  // namespace pp::launch
