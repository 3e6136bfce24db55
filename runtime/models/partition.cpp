#include "runtime/models/partition.h"

#include <fmt/core.h>

#include <algorithm>

namespace pp::models {

Result<std::vector<LayerRange>> Partition(std::string_view model,
                                          uint32_t layers, uint32_t stages) {
  if (stages == 0) return Fail(InputError("the module has no stages"));
  if (stages > layers) {
    return Fail(UsageError(fmt::format(
        "the schedule has {} stages but model {} only {} layers, and a stage "
        "needs at least one; give --layers {} or more",
        stages, model, layers, stages)));
  }
  std::vector<LayerRange> ranges;
  uint32_t begin = 0;
  for (uint32_t s = 0; s < stages; ++s) {
    const uint32_t size = layers / stages + (s < layers % stages ? 1 : 0);
    ranges.push_back({begin, begin + size, layers});
    begin += size;
  }
  return ranges;
}

uint32_t MicroBatchRows(uint32_t batch, uint32_t count, uint32_t mb) {
  return batch / count + (mb < batch % count ? 1 : 0);
}

uint32_t MicroBatchBegin(uint32_t batch, uint32_t count, uint32_t mb) {
  return batch / count * mb + std::min(mb, batch % count);
}

}  // namespace pp::models
