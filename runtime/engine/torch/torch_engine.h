// TorchEngine: one rank's stages, with true weights and split backward.
//
// Faults of the program (a backward without its forward, a scale twice, a
// boundary tensor of another size) are Status, whatever the instructions.
// Called by one thread; buffers it hands out may be freed on any.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/engine/torch/chunk_runner.h"
#include "runtime/engine/torch/ledger.h"
#include "runtime/engine/torch/optimizer.h"
#include "runtime/engine/torch/setup.h"

namespace pp::engine::torch_engine {

class TorchEngine : public Engine {
 public:
  static Result<std::unique_ptr<Engine>> Create(
      std::shared_ptr<const Setup> setup, Rank rank);
  ~TorchEngine() override;

  Status BeginStep(uint64_t step) override;
  Status Forward(const Work& work) override;
  Status Backward(const Work& work) override;
  Status BackwardInput(const Work& work) override;
  Status BackwardWeight(const Work& work) override;
  Status Scale(ChunkId chunk) override;
  Result<std::vector<Buffer>> Reducible(const bytecode::Group& group) override;
  Status Update(ChunkId chunk) override;
  Result<Buffer> Allocate(bytecode::Payload payload, StageId stage,
                          MicroBatch mb) override;
  void Adopt(Buffer& buffer) override;
  std::vector<std::pair<MicroBatch, double>> Losses() const override {
    return losses_;
  }
  double LossUnits() const override { return setup_->Units(); }
  std::shared_ptr<device::Queue> queue() const override { return queue_; }
  Status EndStep() override;
  void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const override;
  void VisitWeights(
      const std::function<void(const WeightView&)>& visit) const override;
  void VisitState(
      const std::function<void(const WeightView&)>& visit) const override;
  MemoryReport Memory() const override;

  // For tests: the bytes that are live now.
  int64_t LiveBytes() const { return ledger_->live(); }

 private:
  // A stash entry: the pass of (chunk, mb) between forward and last half.
  struct Entry {
    ChunkId chunk;
    MicroBatch mb;
    Pass pass;
  };

  // `queue` is null on the CPU.
  TorchEngine(std::shared_ptr<const Setup> setup, Rank rank,
              std::shared_ptr<device::Queue> queue);

  void Build();
  uint64_t Predict();  // peak bytes, memory_plan.h
  void TakeBatch(uint64_t step);
  // Runs f in this rank's ledger, behind the border.
  template <class F>
  auto Do(std::string_view what, F&& f);
  Status CheckWork(const Work& work) const;
  std::string Name(std::string_view op, const Work& work) const;
  Result<Entry*> Find(std::string_view op, const Work& work,
                      Pass::State wanted);
  // A boundary tensor, or undefined where the end of the model has none.
  Result<at::Tensor> Take(std::string_view op, const Work& work, bool has_none);
  Status Give(std::string_view op, const Work& work, const at::Tensor& tensor,
              bool has_none);
  Status RunForward(const Work& work);
  Status RunBackward(std::string_view op, const Work& work,
                     models::WeightTape::Mode mode);
  at::Tensor RowsOf(const at::Tensor& batch, MicroBatch mb) const;
  Status CheckChunk(ChunkId chunk, std::string_view op) const;

  std::shared_ptr<const Setup> setup_;
  const bytecode::RankProgram& program_;
  Rank rank_;
  std::shared_ptr<device::Queue> queue_;
  at::Device device_;
  std::shared_ptr<Ledger> ledger_;
  models::ParameterStore store_;
  std::vector<ChunkRunner> chunks_;  // by ChunkId
  std::unique_ptr<Optimizer> optimizer_;
  uint64_t peak_predicted_ = 0;

  // Of the step.
  at::Tensor input_, target_;  // of the batch; only where an end needs them
  std::vector<std::pair<MicroBatch, double>> losses_;
  // On a GPU: losses whose value is not there before the end of the step.
  std::vector<std::pair<MicroBatch, at::Tensor>> queued_losses_;
  mutable std::vector<at::Tensor> host_gradients_;
  std::vector<bool> scaled_, updated_;         // by ChunkId
  std::vector<std::unique_ptr<Entry>> stash_;  // by StashId; null: free
};

}  // namespace pp::engine::torch_engine
