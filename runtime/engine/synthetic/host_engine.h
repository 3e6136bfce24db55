// Timed work on the CPU: the rank's thread sleeps. Internal to this folder.
#pragma once

#include <vector>

#include "runtime/engine/synthetic/rank_engine.h"

namespace pp::engine::synthetic {

class HostEngine final : public RankEngine {
 public:
  HostEngine(std::shared_ptr<const Setup> setup, Rank rank)
      : RankEngine(std::move(setup), rank), sums_(chunks()) {}

  Status BeginStep(uint64_t step) override;
  Status Update(ChunkId chunk) override;
  Result<Buffer> Allocate(bytecode::Payload payload, StageId stage,
                          MicroBatch mb) override;
  void Adopt(Buffer& buffer) override;

 private:
  Status Perform(const Job& job) override;
  float* ReplicaSum(ChunkId chunk) override { return &sums_[chunk.value]; }

  std::vector<float> sums_;  // by chunk
};

}  // namespace pp::engine::synthetic
