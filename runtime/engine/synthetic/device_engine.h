// Timed work on a GPU: a one-block kernel spins, so that many ranks show true
// pipeline timing on one GPU. Internal to this folder.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/queue.h"
#include "runtime/engine/synthetic/rank_engine.h"

namespace pp::engine::synthetic {

class DeviceEngine final : public RankEngine {
 public:
  static Result<std::unique_ptr<Engine>> Create(
      std::shared_ptr<const Setup> setup, Rank rank,
      const std::shared_ptr<const device::Timebase>& timebase);
  ~DeviceEngine() override;

  std::shared_ptr<device::Queue> queue() const override { return queue_; }
  Status BeginStep(uint64_t step) override;
  Status EndStep() override;
  Status Update(ChunkId chunk) override;
  Result<Buffer> Allocate(bytecode::Payload payload, StageId stage,
                          MicroBatch mb) override;
  void Adopt(Buffer& buffer) override;

 private:
  // What the kernel with this number (its index + 1) needed.
  struct Queued {
    char operation;
    ChunkId chunk;
    MicroBatch mb;
    Token needs;
  };

  DeviceEngine(std::shared_ptr<const Setup> setup, Rank rank,
               std::shared_ptr<device::Queue> queue)
      : RankEngine(std::move(setup), rank),
        queue_(std::move(queue)),
        updated_(chunks()) {}

  Status Perform(const Job& job) override;
  float* ReplicaSum(ChunkId chunk) override {
    return reinterpret_cast<float*>(sums_.data) + chunk.value;
  }
  Status CheckFault();
  Status CheckSums();

  std::shared_ptr<device::Queue> queue_;
  Buffer fault_;  // a SpinFault
  Buffer sums_;   // a float for each chunk
  std::vector<bool> updated_;
  std::vector<Queued> jobs_;  // of the step
};

}  // namespace pp::engine::synthetic
