// Entry points of libpp_engine_torch.so (runtime/engine/plugin.h).
#include "runtime/engine/plugin.h"

#include "runtime/engine/torch/factory.h"

extern "C" __attribute__((visibility("default"))) const char* PpEngineAbi() {
  return pp::engine::kEngineAbi;
}

extern "C" __attribute__((visibility("default"))) pp::engine::EngineFactory*
PpCreateEngineFactory() {
  return new pp::engine::torch_engine::TorchEngineFactory;
}
