// Partition: which layers of a model each stage holds.
//
// L layers over S stages: floor(L/S) each, and one more for each of the first
// L mod S stages. What stands before the first layer (embedding) belongs to
// the first stage, what follows the last (head, loss) to the last.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace pp::models {

struct LayerRange {
  uint32_t begin = 0;
  uint32_t end = 0;     // one past
  uint32_t layers = 0;  // of the whole model

  bool first() const { return begin == 0; }
  bool last() const { return end == layers; }
};

// One range a stage. kUsage when there are more stages than layers.
Result<std::vector<LayerRange>> Partition(std::string_view model,
                                          uint32_t layers, uint32_t stages);

// Rows of micro-batch `mb` of `count`: larger ones first, the sum is `batch`.
uint32_t MicroBatchRows(uint32_t batch, uint32_t count, uint32_t mb);
// Index of its first row in the batch.
uint32_t MicroBatchBegin(uint32_t batch, uint32_t count, uint32_t mb);

}  // namespace pp::models
