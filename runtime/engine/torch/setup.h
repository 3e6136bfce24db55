// Setup: what all ranks of a run share, fixed by Prepare.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/engine/torch/gpu.h"
#include "runtime/engine/torch/optimizer.h"
#include "runtime/models/model.h"
#include "runtime/weights/safetensors.h"

namespace pp::engine::torch_engine {

struct Setup {
  bytecode::Module module;
  std::shared_ptr<const models::Model> model;
  std::vector<models::LayerRange> stages;  // by StageId
  uint32_t batch = 0;                      // rows
  uint64_t seed = 1;
  OptimizerConfig optimizer;
  std::shared_ptr<const weights::File> init;  // null: weights from the seed
  std::optional<uint64_t> resumed;  // `init` has state after so many steps
  // On GPUs: theirs, and the kind of device that tensors are on. The number of
  // the GPU is the queue's.
  std::shared_ptr<Gpus> gpus;
  c10::DeviceType device = at::kCPU;

  uint32_t Rows(MicroBatch mb) const {
    return models::MicroBatchRows(batch, module.micro_batches, mb.value);
  }
  uint32_t FirstRow(MicroBatch mb) const {
    return models::MicroBatchBegin(batch, module.micro_batches, mb.value);
  }
  // Of what goes between two stages; `stage` is the sender's.
  std::vector<int64_t> Boundary(bytecode::Payload payload, StageId stage,
                                MicroBatch mb) const {
    const models::LayerRange& range = stages[stage.value];
    return model->BoundaryShape(
        Rows(mb),
        payload == bytecode::Payload::kAct ? range.end : range.begin);
  }
  double Units() const {
    return static_cast<double>(model->UnitsPerRow()) * batch;
  }
};

}  // namespace pp::engine::torch_engine
