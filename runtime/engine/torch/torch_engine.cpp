#include "runtime/engine/torch/torch_engine.h"

#include <ATen/Functions.h>
#include <fmt/core.h>

#include <algorithm>

#include "runtime/engine/torch/border.h"
#include "runtime/engine/torch/gradients.h"
#include "runtime/engine/torch/memory_plan.h"
#include "runtime/engine/torch/tensor_buffer.h"

namespace pp::engine::torch_engine {

using models::WeightTape;

namespace {

at::Device DeviceOf(const Setup& setup, const device::Queue* queue) {
  if (queue == nullptr || setup.device == at::kCPU) return at::kCPU;
  return {setup.device, static_cast<c10::DeviceIndex>(queue->device())};
}

void VisitTensor(const std::string& name, const at::Tensor& tensor,
                 const std::function<void(const WeightView&)>& visit) {
  const at::Tensor value = tensor.cpu();
  visit({name,
         value.sizes().vec(),
         {value.const_data_ptr<float>(), static_cast<size_t>(value.numel())}});
}

}  // namespace

TorchEngine::TorchEngine(std::shared_ptr<const Setup> setup, Rank rank,
                         std::shared_ptr<device::Queue> queue)
    : setup_(std::move(setup)),
      program_(setup_->module.programs[rank.value]),
      rank_(rank),
      queue_(std::move(queue)),
      device_(DeviceOf(*setup_, queue_.get())),
      ledger_(std::make_shared<Ledger>()),
      store_(setup_->seed, device_, setup_->init),
      scaled_(program_.chunks.size()),
      updated_(program_.chunks.size()),
      stash_(program_.stashes) {}

TorchEngine::~TorchEngine() {
  if (queue_ != nullptr) queue_->Close();
}

template <class F>
auto TorchEngine::Do(std::string_view what, F&& f) {
  LedgerScope scope(ledger_);
  return AtBorder(what, [&] {
    UseOneThread();
    const StreamScope stream(queue_.get(), device_);
    return f();
  });
}

Result<std::unique_ptr<Engine>> TorchEngine::Create(
    std::shared_ptr<const Setup> setup, Rank rank) {
  if (rank.value >= setup->module.ranks()) {
    return Fail(UsageError(fmt::format("rank {} of a module of {} ranks",
                                       rank.value, setup->module.ranks())));
  }
  std::shared_ptr<device::Queue> queue;
  if (setup->gpus != nullptr) {
    PP_ASSIGN_OR_RETURN(queue, setup->gpus->NewQueue(rank.value));
  }
  std::unique_ptr<TorchEngine> engine(
      new TorchEngine(std::move(setup), rank, std::move(queue)));
  PP_RETURN_IF_ERROR(engine->Do("building the stages", [&]() -> Status {
    engine->Build();
    if (!engine->setup_->resumed) return OkStatus();
    return RestoreState(*engine->optimizer_, *engine->setup_->init,
                        *engine->setup_->resumed);
  }));
  return engine;
}

void TorchEngine::Build() {
  chunks_.reserve(program_.chunks.size());
  for (size_t c = 0; c < program_.chunks.size(); ++c) {
    store_.SetChunk(c);
    chunks_.emplace_back(
        *setup_->model, setup_->stages[program_.chunks[c].stage.value], store_);
  }
  optimizer_ = MakeOptimizer(setup_->optimizer, store_);
  // On a GPU bytes are the allocator's, which knows no ranks.
  if (device_.is_cpu()) peak_predicted_ = Predict();
}

uint64_t TorchEngine::Predict() {
  const uint32_t count = setup_->module.micro_batches;
  std::vector<std::vector<ChunkBytes>> sizes;
  for (const ChunkRunner& chunk : chunks_) {
    auto& row = sizes.emplace_back();
    for (uint32_t m = 0; m < count; ++m) {
      const uint32_t rows = setup_->Rows(MicroBatch(m));
      const bool same = m > 0 && rows == setup_->Rows(MicroBatch(m - 1));
      row.push_back(same ? row.back()
                         : MeasureChunk(*setup_, chunk, rows, *ledger_));
    }
  }
  const MemoryReport report = Memory();
  TakeBatch(0);
  int64_t fixed = static_cast<int64_t>(report.weights + report.gradients +
                                       report.optimizer);
  if (input_.defined()) fixed += static_cast<int64_t>(input_.nbytes());
  if (target_.defined()) fixed += static_cast<int64_t>(target_.nbytes());
  return PredictPeak(*setup_, program_, sizes, fixed);
}

void TorchEngine::TakeBatch(uint64_t step) {
  input_.reset();
  target_.reset();
  if (std::ranges::any_of(chunks_, &ChunkRunner::first)) {
    input_ = setup_->model->Input(step, setup_->batch).to(device_);
  }
  if (std::ranges::any_of(chunks_, &ChunkRunner::last)) {
    target_ = setup_->model->Target(step, setup_->batch).to(device_);
  }
}

// ---- The step ----

Status TorchEngine::BeginStep(uint64_t step) {
  return Do("begin of step", [&]() -> Status {
    for (size_t i = 0; i < stash_.size(); ++i) {
      if (stash_[i]) {
        return InputError(fmt::format(
            "step ended with the activations of chunk {}, micro-batch {} in "
            "stash {}: their backward never ran",
            stash_[i]->chunk.value, stash_[i]->mb.value, i));
      }
    }
    if (queue_ != nullptr) PP_RETURN_IF_ERROR(queue_->BeginStep());
    ZeroGradients(store_);
    losses_.clear();
    queued_losses_.clear();
    host_gradients_.clear();
    scaled_.assign(scaled_.size(), false);
    updated_.assign(updated_.size(), false);
    TakeBatch(step);
    ledger_->ResetPeak();
    return OkStatus();
  });
}

Status TorchEngine::EndStep() {
  return Do("end of step", [&]() -> Status {
    for (const auto& [mb, loss] : queued_losses_) {
      losses_.emplace_back(mb, loss.item<double>());
    }
    queued_losses_.clear();
    return OkStatus();
  });
}

Status TorchEngine::Forward(const Work& work) {
  return Do(Name("forward", work), [&] { return RunForward(work); });
}

Status TorchEngine::Backward(const Work& work) {
  return Do(Name("backward", work), [&] {
    return RunBackward("backward", work, WeightTape::Mode::kRunAtOnce);
  });
}

Status TorchEngine::BackwardInput(const Work& work) {
  return Do(Name("backward_input", work), [&] {
    return RunBackward("backward_input", work, WeightTape::Mode::kDefer);
  });
}

Status TorchEngine::BackwardWeight(const Work& work) {
  return Do(Name("backward_weight", work), [&]() -> Status {
    PP_ASSIGN_OR_RETURN(Entry * entry, Find("backward_weight", work,
                                            Pass::State::kInputHalfDone));
    chunks_[work.chunk.value].BackwardWeight(entry->pass);
    stash_[work.stash.value].reset();
    return OkStatus();
  });
}

Status TorchEngine::RunForward(const Work& work) {
  PP_RETURN_IF_ERROR(CheckWork(work));
  if (stash_[work.stash.value]) {
    return InputError(fmt::format("{}: stash {} still holds micro-batch {}",
                                  Name("forward", work), work.stash.value,
                                  stash_[work.stash.value]->mb.value));
  }
  const ChunkRunner& chunk = chunks_[work.chunk.value];
  PP_ASSIGN_OR_RETURN(at::Tensor x, Take("forward", work, chunk.first()));
  if (chunk.first()) x = RowsOf(input_, work.mb);
  auto entry = std::make_unique<Entry>(Entry{work.chunk, work.mb, {}});
  if (chunk.last()) {
    const at::Tensor target = RowsOf(target_, work.mb);
    if (queue_ != nullptr) {
      queued_losses_.emplace_back(work.mb,
                                  chunk.ForwardLoss(x, target, entry->pass));
    } else {
      losses_.emplace_back(
          work.mb, chunk.ForwardLoss(x, target, entry->pass).item<double>());
    }
  } else {
    const at::Tensor y = chunk.Forward(x, entry->pass);
    PP_RETURN_IF_ERROR(Give("forward", work, y, false));
  }
  stash_[work.stash.value] = std::move(entry);
  return OkStatus();
}

Status TorchEngine::RunBackward(std::string_view op, const Work& work,
                                WeightTape::Mode mode) {
  PP_ASSIGN_OR_RETURN(Entry * entry, Find(op, work, Pass::State::kForwardDone));
  const ChunkRunner& chunk = chunks_[work.chunk.value];
  PP_ASSIGN_OR_RETURN(const at::Tensor dy, Take(op, work, chunk.last()));
  const at::Tensor dx = chunk.Backward(dy, mode, entry->pass);
  PP_RETURN_IF_ERROR(Give(op, work, dx, chunk.first()));
  if (mode == WeightTape::Mode::kRunAtOnce) stash_[work.stash.value].reset();
  return OkStatus();
}

at::Tensor TorchEngine::RowsOf(const at::Tensor& batch, MicroBatch mb) const {
  TORCH_CHECK(batch.defined(), "no batch: BeginStep has not run");
  return batch.narrow(0, setup_->FirstRow(mb), setup_->Rows(mb));
}

// ---- Checks of what the program asks for ----

std::string TorchEngine::Name(std::string_view op, const Work& work) const {
  return fmt::format("{} of chunk {}, micro-batch {}", op, work.chunk.value,
                     work.mb.value);
}

Status TorchEngine::CheckWork(const Work& work) const {
  if (work.chunk.value < chunks_.size() && work.stash.value < stash_.size() &&
      work.mb.value < setup_->module.micro_batches) {
    if (!scaled_[work.chunk.value]) return OkStatus();
    return InputError(
        fmt::format("chunk {}, micro-batch {}: work after the gradients of "
                    "the step were scaled",
                    work.chunk.value, work.mb.value));
  }
  return InputError(
      fmt::format("chunk {}, micro-batch {}, stash {}: out of range",
                  work.chunk.value, work.mb.value, work.stash.value));
}

Result<TorchEngine::Entry*> TorchEngine::Find(std::string_view op,
                                              const Work& work,
                                              Pass::State wanted) {
  PP_RETURN_IF_ERROR(CheckWork(work));
  Entry* entry = stash_[work.stash.value].get();
  if (entry == nullptr || entry->chunk != work.chunk || entry->mb != work.mb) {
    return Fail(InputError(fmt::format("{}: stash {} does not hold it",
                                       Name(op, work), work.stash.value)));
  }
  if (entry->pass.state != wanted) {
    return Fail(InputError(fmt::format("{}: its input half {}", Name(op, work),
                                       wanted == Pass::State::kForwardDone
                                           ? "has run already"
                                           : "has not run yet")));
  }
  return entry;
}

Result<at::Tensor> TorchEngine::Take(std::string_view op, const Work& work,
                                     bool has_none) {
  if (has_none != (work.in == nullptr)) {
    return Fail(InputError(
        fmt::format("{}: {} an input slot", Name(op, work),
                    has_none ? "the end of the model takes no" : "misses")));
  }
  if (has_none) return at::Tensor();
  const ChunkRunner& chunk = chunks_[work.chunk.value];
  return FromBuffer(
      *work.in,
      setup_->model->BoundaryShape(
          setup_->Rows(work.mb),
          op == "forward" ? chunk.range().begin : chunk.range().end),
      Name(op, work));
}

Status TorchEngine::Give(std::string_view op, const Work& work,
                         const at::Tensor& tensor, bool has_none) {
  if (has_none) return OkStatus();
  if (work.out == nullptr) {
    return InputError(fmt::format("{}: misses an output slot", Name(op, work)));
  }
  *work.out = ToBuffer(tensor);
  return OkStatus();
}

Status TorchEngine::CheckChunk(ChunkId chunk, std::string_view op) const {
  if (chunk.value < chunks_.size()) return OkStatus();
  return InputError(fmt::format("{} of chunk {}: the rank has {}", op,
                                chunk.value, chunks_.size()));
}

// ---- Gradients and weights ----

Status TorchEngine::Scale(ChunkId chunk) {
  return Do("scale", [&]() -> Status {
    PP_RETURN_IF_ERROR(CheckChunk(chunk, "scale"));
    if (scaled_[chunk.value]) {
      return InputError(fmt::format(
          "chunk {}: gradients scaled twice in one step", chunk.value));
    }
    scaled_[chunk.value] = true;
    ScaleGradients(store_, chunk.value, 1.0 / setup_->Units(), scaled_);
    return OkStatus();
  });
}

Result<std::vector<Buffer>> TorchEngine::Reducible(
    const bytecode::Group& group) {
  return Do("reduce", [&]() -> Result<std::vector<Buffer>> {
    const std::vector<std::string> tied = setup_->model->Tied();
    const auto belongs = [&](const models::Parameter& parameter) {
      if (group.kind == bytecode::GroupKind::kTied) {
        return std::ranges::find(tied, parameter.name) != tied.end();
      }
      return std::ranges::any_of(parameter.uses, [&](const auto* use) {
        return program_.chunks[use->chunk].stage == group.stage;
      });
    };
    std::vector<Buffer> buffers;
    for (const auto& parameter : store_.parameters()) {
      if (!belongs(*parameter)) continue;
      buffers.push_back(ToBuffer(parameter->uses.front()->gradient));
    }
    return buffers;
  });
}

Status TorchEngine::Update(ChunkId chunk) {
  return Do("update", [&]() -> Status {
    PP_RETURN_IF_ERROR(CheckChunk(chunk, "update"));
    if (!scaled_[chunk.value] || updated_[chunk.value]) {
      return InputError(fmt::format(
          "chunk {}: update {}", chunk.value,
          updated_[chunk.value] ? "twice in one step" : "before scale"));
    }
    updated_[chunk.value] = true;
    // A parameter that several chunks share is updated once: with the last.
    for (size_t i = 0; i < store_.parameters().size(); ++i) {
      const auto& uses = store_.parameters()[i]->uses;
      const auto of_chunk = [&](const auto* u) {
        return u->chunk == chunk.value;
      };
      const auto done = [&](const auto* u) { return updated_[u->chunk]; };
      if (std::ranges::any_of(uses, of_chunk) &&
          std::ranges::all_of(uses, done)) {
        optimizer_->Update(i);
      }
    }
    return OkStatus();
  });
}

void TorchEngine::VisitGradients(
    const std::function<void(const GradientView&)>& visit) const {
  VisitStore(store_, &host_gradients_, visit);
}

void TorchEngine::VisitWeights(
    const std::function<void(const WeightView&)>& visit) const {
  for (const auto& parameter : store_.parameters()) {
    VisitTensor(parameter->name, parameter->value, visit);
  }
}

void TorchEngine::VisitState(
    const std::function<void(const WeightView&)>& visit) const {
  optimizer_->VisitState([&](const std::string& name, const at::Tensor& value) {
    VisitTensor(name, value, visit);
  });
}

// ---- Memory ----

Result<Buffer> TorchEngine::Allocate(bytecode::Payload payload, StageId stage,
                                     MicroBatch mb) {
  return Do("allocate", [&]() -> Result<Buffer> {
    if (stage.value >= setup_->module.stages ||
        mb.value >= setup_->module.micro_batches) {
      return Fail(
          InputError(fmt::format("no boundary tensor of stage {}, "
                                 "micro-batch {}",
                                 stage.value, mb.value)));
    }
    return ToBuffer(at::empty(setup_->Boundary(payload, stage, mb),
                              at::TensorOptions(at::kFloat).device(device_)));
  });
}

void TorchEngine::Adopt(Buffer& buffer) {
  const at::Tensor* tensor = TensorOf(buffer);
  if (tensor == nullptr) return;
  if (tensor->is_cuda()) {
    // Its memory goes back to the peer's pool, but not before this rank's work.
    tensor->record_stream(TorchStream(*queue_));
  } else {
    MoveToLedger(tensor->storage(), ledger_);
  }
}

MemoryReport TorchEngine::Memory() const {
  MemoryReport report;
  for (const auto& parameter : store_.parameters()) {
    report.weights += parameter->value.nbytes();
  }
  for (const auto& use : store_.uses()) {
    report.gradients += use->gradient.nbytes();
  }
  report.optimizer = optimizer_->StateBytes();
  if (device_.is_cpu()) {
    report.peak_measured = static_cast<uint64_t>(ledger_->peak());
  }
  report.peak_predicted = peak_predicted_;
  return report;
}

}  // namespace pp::engine::torch_engine
