// Engine: does the work of one rank. The VM tells it what, in which order.
//
// One engine per rank, called by that rank's thread only. `chunk` is local to
// the rank; the module says which stage it holds. Without a queue() every call
// returns when the work is done; with one it only queues it, and EndStep comes
// once all of a step has run. All failures are Status: an engine that throws
// inside converts at its border.
//
// Conventions of the mathematics, the same for every engine with weights:
//   - the batch of B rows is split into M micro-batches of floor(B/M) or
//     ceil(B/M) rows, larger ones first
//   - the loss of a micro-batch is a *sum* over its units (tokens, elements);
//     Scale multiplies gradients by 1 / (units of the whole batch); so loss
//     and gradients are those of the mean over the batch for every P and M
//   - a gradient is zero at BeginStep and is added to by each Backward or
//     BackwardWeight, in the order in which they run
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"
#include "runtime/device/queue.h"

namespace pp::engine {

// What a pair (chunk, micro-batch) of this rank is asked to do. `in` is null
// on the first stage (forward) or last stage (backward); `out` is null on the
// last (forward) or first (backward).
struct Work {
  ChunkId chunk;
  MicroBatch mb;
  StashId stash;
  const Buffer* in = nullptr;
  Buffer* out = nullptr;
};

// One parameter's gradient, readable until the next BeginStep.
struct GradientView {
  std::string name;  // the model's name of the parameter, no rank in it
  const float* data;
  size_t count;
};

// One parameter's value, readable while it is visited.
struct WeightView {
  std::string name;  // as in GradientView
  std::vector<int64_t> shape;
  std::span<const float> values;
};

// In names of optimizer state; in no name of a parameter.
inline constexpr char kStateMark = '/';

// Bytes of this rank, one line each, as `--report` prints them.
struct MemoryReport {
  uint64_t weights = 0;
  uint64_t gradients = 0;
  uint64_t optimizer = 0;
  uint64_t peak_measured = 0;   // most live bytes at once in the last step
  uint64_t peak_predicted = 0;  // from tensor sizes and the program's order
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Where the calls below only queue work (a GPU); null: they do it.
  virtual std::shared_ptr<device::Queue> queue() const { return nullptr; }

  // Zero the gradients, take the batch of this step.
  virtual Status BeginStep(uint64_t step) = 0;
  // All work of the step has run: reads what it left (losses), and reports
  // what the device found wrong.
  virtual Status EndStep() { return OkStatus(); }

  virtual Status Forward(const Work& work) = 0;
  virtual Status Backward(const Work& work) = 0;
  virtual Status BackwardInput(const Work& work) = 0;
  // `in` and `out` are null.
  virtual Status BackwardWeight(const Work& work) = 0;

  virtual Status Scale(ChunkId chunk) = 0;
  // The gradients that `group` sums, as views to be summed in place; empty
  // when the model has none (weights that are not tied).
  virtual Result<std::vector<Buffer>> Reducible(
      const bytecode::Group& group) = 0;
  virtual Status Update(ChunkId chunk) = 0;

  // A buffer for a message of this shape, to be received into.
  virtual Result<Buffer> Allocate(bytecode::Payload payload, StageId stage,
                                  MicroBatch mb) = 0;
  // `buffer` came from another rank of this process without a copy and now
  // counts as this rank's memory.
  virtual void Adopt(Buffer& buffer) = 0;

  // After EndStep. Losses of the micro-batches whose
  // last stage is on this rank: (mb, sum over units), any order.
  virtual std::vector<std::pair<MicroBatch, double>> Losses() const = 0;
  // Units of loss in the whole batch: mean loss = sum of Losses / LossUnits.
  virtual double LossUnits() const = 0;
  virtual void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const = 0;
  // Between two steps. Nothing where the engine has no weights.
  virtual void VisitWeights(
      const std::function<void(const WeightView&)>& visit) const {
    (void)visit;
  }
  // Likewise what the optimizer keeps, named FIELD + kStateMark + PARAMETER.
  virtual void VisitState(
      const std::function<void(const WeightView&)>& visit) const {
    (void)visit;
  }
  virtual MemoryReport Memory() const = 0;
};

// What the user asked for on the command line of pprun.
struct EngineConfig {
  std::string model = "synthetic";
  // Options of the model and engine as given: {"layers","8"}, {"dim","128"}.
  std::vector<std::pair<std::string, std::string>> options;
  std::string data;  // a file; empty: the model's own default
  std::vector<std::string> stage_files;  // TorchScript, one a stage
  std::string loss;                      // of those: a name or a file
  std::string device = "cpu";
  // Of the GPUs, where `device` is "cuda". Rank r of a process with several
  // ranks takes GPU r modulo their number, unless `gpu` says which.
  std::shared_ptr<device::Driver> driver;
  std::optional<uint32_t> gpu;
  uint32_t batch = 0;  // rows of the global batch; 0: model's default
  uint64_t seed = 1;
  std::string init;  // safetensors file of the weights; empty: from the seed
  // `init` is a checkpoint, with the optimizer's state, after so many steps.
  std::optional<uint64_t> resumed;
  std::string optimizer = "adamw";  // "sgd" | "adamw"
  double learning_rate = 0;         // 0: the optimizer's default
};

// The same model and data in one process without a pipeline: the truth that
// a pipelined run is compared with.
class Reference {
 public:
  virtual ~Reference() = default;
  // Micro-batches one after another, then scale. Mean loss of the batch.
  virtual Result<double> Step(uint64_t step) = 0;
  // Optimizer update, so that the next step starts from the same weights.
  virtual Status Update() = 0;
  virtual void VisitGradients(
      const std::function<void(const GradientView&)>& visit) const = 0;
};

class EngineFactory {
 public:
  virtual ~EngineFactory() = default;
  // Checks config against module once, before any rank starts: unknown
  // option (did you mean), P > layers, data shorter than one batch, ...
  virtual Status Prepare(const bytecode::Module& module,
                         const EngineConfig& config) = 0;
  // After Prepare. May be called from several threads at once.
  virtual Result<std::unique_ptr<Engine>> Create(Rank rank) = 0;
  // kUsage where the engine has no mathematics to compare.
  virtual Result<std::unique_ptr<Reference>> CreateReference() = 0;
};

}  // namespace pp::engine
