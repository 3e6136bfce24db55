// Runs several ranks' engines in one thread, by hand: each rank has a list of
// compute operations, and messages are handed over when their time has come.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/torch/factory.h"
#include "runtime/engine/torch/torch_engine.h"

namespace pp::engine::torch_engine {

struct Op {
  char kind;  // F B I W
  uint32_t chunk;
  uint32_t mb;
};

struct Plan {
  uint32_t ranks = 1;
  uint32_t micro_batches = 1;
  std::vector<std::vector<uint32_t>> stages;  // of each rank's chunks
  std::vector<std::vector<Op>> ops;           // of each rank
};

// Stage s on rank s; all forwards, then all backwards.
Plan GpipePlan(uint32_t ranks, uint32_t micro_batches);
// One forward, one backward; split: every B is an I, its W comes at the end.
Plan OneFOneBPlan(uint32_t ranks, uint32_t micro_batches, bool split);
// Stages 0..3 on two ranks, {0, 3} and {1, 2}, GPipe order.
Plan VeePlan(uint32_t micro_batches);

// The module of a plan: chunks, stashes, groups and code as a compiler would
// emit it, with blocking messages.
bytecode::Module ModuleOf(const Plan& plan);

using Gradients = std::map<std::string, std::vector<float>>;

class Pipeline {
 public:
  // With a model of the registry, or with the test's own.
  Pipeline(Plan plan, EngineConfig config,
           std::shared_ptr<const models::Model> model = nullptr);

  // One step of all ranks; the mean loss. Failures become test failures.
  double Step(uint64_t step);
  // Of all ranks; a parameter that is on two must be the same on both.
  Gradients GradientsNow() const;

  TorchEngine& engine(uint32_t rank) { return *engines_[rank]; }
  Reference& reference() { return *reference_; }
  // Mean loss of the unpipelined step, without update.
  double ReferenceStep(uint64_t step);
  Gradients ReferenceGradients() const;
  // Between the last backward and the tail.
  void SetBeforeTail(std::function<void()> f) { before_tail_ = std::move(f); }

 private:
  using Key = std::pair<char, std::pair<uint32_t, uint32_t>>;

  bool TryRun(uint32_t rank, const Op& op);
  void RunTail();

  Plan plan_;
  bytecode::Module module_;
  std::vector<std::unique_ptr<TorchEngine>> engines_;
  std::unique_ptr<Reference> reference_;
  std::map<Key, Buffer> messages_;  // (F or B, (stage that reads it, mb))
  std::function<void()> before_tail_;
};

Gradients Collect(
    const std::function<void(const std::function<void(const GradientView&)>&)>&
        visit_all);

}  // namespace pp::engine::torch_engine
