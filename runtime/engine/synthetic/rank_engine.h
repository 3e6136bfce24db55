// The engine of one rank: what is the same wherever the time passes. Internal
// to this folder.
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

class RankEngine : public Engine {
 public:
  RankEngine(std::shared_ptr<const Setup> setup, Rank rank);

  Status BeginStep(uint64_t step) override;
  Status Forward(const Work& work) override;
  Status Backward(const Work& work) override;
  Status BackwardInput(const Work& work) override;
  Status BackwardWeight(const Work& work) override;
  Status Scale(ChunkId chunk) override;
  Result<std::vector<Buffer>> Reducible(const bytecode::Group& group) override;
  std::vector<std::pair<MicroBatch, double>> Losses() const override;
  double LossUnits() const override { return setup_->batch; }
  void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const override;
  MemoryReport Memory() const override;

 protected:
  // One operation: the message it needs is there and right, time passes, the
  // message it gives comes to life.
  struct Job {
    char operation;
    const Work& work;
    int64_t ns;
    std::optional<Token> needs;  // work.in is then not null
    std::optional<Token> gives;  // work.out is then not null
  };
  virtual Status Perform(const Job& job) = 0;
  // One float of each chunk that a Reduce sums over the ranks of a replica
  // group: 1 at the begin of a step.
  virtual float* ReplicaSum(ChunkId chunk) = 0;

  StageId StageOf(ChunkId chunk) const;
  size_t chunks() const { return replicas_.size(); }
  const Setup& setup() const { return *setup_; }
  Rank rank() const { return rank_; }
  const std::shared_ptr<MemoryCounter>& memory() const { return memory_; }
  Status CheckSum(ChunkId chunk, float sum) const;

 private:
  struct Stashed {
    ChunkId chunk;
    MicroBatch mb;
    bool half = false;  // I has run, W has not
  };

  Status Do(char operation, const Work& work, int64_t ns,
            bytecode::Payload payload, std::optional<StageId> from);
  Status Drill(char operation, const Work& work) const;
  int64_t Stretched(const Work& work, int64_t ns) const;
  Status BackwardHalf(char operation, const Work& work, int64_t ns);
  Status TakeStash(char operation, const Work& work, bool half) const;

  std::shared_ptr<const Setup> setup_;
  Rank rank_;
  uint64_t step_ = 0;
  std::shared_ptr<MemoryCounter> memory_;
  std::vector<std::optional<Stashed>> stashes_;
  std::vector<size_t> replicas_;  // by chunk: ranks its sum is taken over
  std::vector<std::pair<MicroBatch, double>> losses_;
};

}  // namespace pp::engine::synthetic
