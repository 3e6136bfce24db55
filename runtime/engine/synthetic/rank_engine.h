// The engine of one rank. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/engine/synthetic/message.h"
#include "runtime/engine/synthetic/options.h"

namespace pp::engine::synthetic {

// What all engines of a run share, fixed by Prepare.
struct Setup {
  const bytecode::Module* module = nullptr;
  Options options;
  uint32_t batch = 0;  // rows = units of loss
};

class RankEngine final : public Engine {
 public:
  RankEngine(std::shared_ptr<const Setup> setup, Rank rank);

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
  std::vector<std::pair<MicroBatch, double>> Losses() const override;
  double LossUnits() const override { return setup_->batch; }
  void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const override;
  MemoryReport Memory() const override;

 private:
  struct Stashed {
    ChunkId chunk;
    MicroBatch mb;
    bool half = false;  // I has run, W has not
  };
  // One float that a Reduce sums over the ranks of a replica group: 1 before,
  // the number of ranks after.
  struct ReplicaSum {
    float value = 1;
    size_t expected = 1;
  };

  StageId StageOf(ChunkId chunk) const;
  Status WorkFor(char operation, const Work& work, int64_t ns) const;
  Status CheckInput(const Work& work, bytecode::Payload payload,
                    std::optional<StageId> from) const;
  Status Produce(const Work& work, bytecode::Payload payload);
  Status BackwardHalf(char operation, const Work& work, int64_t ns);
  Status TakeStash(char operation, const Work& work, bool half) const;

  std::shared_ptr<const Setup> setup_;
  Rank rank_;
  uint64_t step_ = 0;
  std::shared_ptr<MemoryCounter> memory_;
  std::vector<std::optional<Stashed>> stashes_;
  std::vector<ReplicaSum> sums_;  // by chunk
  std::vector<std::pair<MicroBatch, double>> losses_;
};

}  // namespace pp::engine::synthetic
