#include "runtime/engine/synthetic/rank_engine.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "runtime/engine/synthetic/predict.h"

namespace pp::engine::synthetic {
namespace {

using bytecode::Payload;

bool IsAt(const std::optional<Fault>& fault, Rank rank, char operation,
          MicroBatch mb) {
  return fault && *fault == Fault{rank, operation, mb};
}

// Rows of a micro-batch: the larger ones come first.
uint32_t RowsOf(uint32_t batch, uint32_t micro_batches, MicroBatch mb) {
  const uint32_t larger = batch % micro_batches;
  return batch / micro_batches + (mb.value < larger ? 1 : 0);
}

// A multiple of 2^-16, so that sums over any split of the batch are exact and
// the mean is the same for every P and M.
double LossPerRow(uint64_t step) {
  return std::ldexp(
      std::floor(std::ldexp(4.0, 16) / static_cast<double>(step + 1)), -16);
}

}  // namespace

RankEngine::RankEngine(std::shared_ptr<const Setup> setup, Rank rank)
    : setup_(std::move(setup)),
      rank_(rank),
      memory_(std::make_shared<MemoryCounter>()) {
  const bytecode::RankProgram& program = setup_->module->programs[rank.value];
  stashes_.resize(program.stashes);
  replicas_.resize(program.chunks.size(), 1);
}

Status RankEngine::BeginStep(uint64_t step) {
  step_ = step;
  losses_.clear();
  replicas_.assign(replicas_.size(), 1);
  memory_->ResetPeak();
  return OkStatus();
}

StageId RankEngine::StageOf(ChunkId chunk) const {
  return setup_->module->programs[rank_.value].chunks[chunk.value].stage;
}

Status RankEngine::Drill(char operation, const Work& work) const {
  if (IsAt(setup_->options.fail, rank_, operation, work.mb)) {
    return RankError("drill: this operation was asked to fail");
  }
  while (IsAt(setup_->options.hang, rank_, operation, work.mb)) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return OkStatus();
}

int64_t RankEngine::Stretched(const Work& work, int64_t ns) const {
  const auto& factors = setup_->options.stage_factor;
  const auto factor = factors.find(StageOf(work.chunk).value);
  return factor == factors.end()
             ? ns
             : std::llround(static_cast<double>(ns) * factor->second);
}

// `from` is the stage whose message this operation needs; none at an end of
// the pipeline, where there is no message.
Status RankEngine::Do(char operation, const Work& work, int64_t ns,
                      Payload payload, std::optional<StageId> from) {
  if (!from && work.in != nullptr) {
    return RankError("gets a message at the end of the pipeline");
  }
  if (from && work.in == nullptr) return RankError("gets no message");
  PP_RETURN_IF_ERROR(Drill(operation, work));
  Job job{operation, work, Stretched(work, ns), {}, {}};
  if (from) job.needs = Token{0, step_, payload, *from, work.mb};
  if (work.out != nullptr) {
    job.gives = Token{0, step_, payload, StageOf(work.chunk), work.mb};
  }
  return Perform(job);
}

Status RankEngine::Forward(const Work& work) {
  const StageId stage = StageOf(work.chunk);
  std::optional<StageId> from;
  if (stage.value > 0) from = StageId(stage.value - 1);
  PP_RETURN_IF_ERROR(
      Do('F', work, setup_->options.forward, Payload::kAct, from));
  stashes_[work.stash.value] = Stashed{work.chunk, work.mb, false};
  memory_->Add(setup_->options.activation);
  if (stage.value + 1 == setup_->module->stages) {
    const uint32_t rows =
        RowsOf(setup_->batch, setup_->module->micro_batches, work.mb);
    losses_.emplace_back(work.mb, rows * LossPerRow(step_));
  }
  return OkStatus();
}

// Whether the stash holds what this operation works on.
Status RankEngine::TakeStash(char operation, const Work& work,
                             bool half) const {
  const std::optional<Stashed>& held = stashes_[work.stash.value];
  if (held && held->chunk == work.chunk && held->mb == work.mb &&
      held->half == half) {
    return OkStatus();
  }
  const std::string needs =
      fmt::format("{} of chunk {}, micro-batch {} needs {}", operation,
                  work.chunk.value, work.mb.value, half ? "its I" : "its F");
  if (!held) return RankError(needs + ", its stash is empty");
  return RankError(fmt::format(
      "{}, its stash holds {} of chunk {}, "
      "micro-batch {}",
      needs, held->half ? "I" : "F", held->chunk.value, held->mb.value));
}

// What B and I share: D(output) in, D(input) out.
Status RankEngine::BackwardHalf(char operation, const Work& work, int64_t ns) {
  const StageId stage = StageOf(work.chunk);
  std::optional<StageId> from;
  if (stage.value + 1 < setup_->module->stages) {
    from = StageId(stage.value + 1);
  }
  PP_RETURN_IF_ERROR(TakeStash(operation, work, false));
  return Do(operation, work, ns, Payload::kGrad, from);
}

Status RankEngine::Backward(const Work& work) {
  PP_RETURN_IF_ERROR(BackwardHalf('B', work, setup_->options.BackwardNs()));
  stashes_[work.stash.value].reset();
  memory_->Remove(setup_->options.activation);
  return OkStatus();
}

Status RankEngine::BackwardInput(const Work& work) {
  PP_RETURN_IF_ERROR(BackwardHalf('I', work, setup_->options.input));
  stashes_[work.stash.value]->half = true;
  memory_->Remove(setup_->options.activation);
  memory_->Add(setup_->options.AfterInput());
  return OkStatus();
}

Status RankEngine::BackwardWeight(const Work& work) {
  PP_RETURN_IF_ERROR(TakeStash('W', work, true));
  PP_RETURN_IF_ERROR(
      Do('W', work, setup_->options.weight, Payload::kGrad, std::nullopt));
  stashes_[work.stash.value].reset();
  memory_->Remove(setup_->options.AfterInput());
  return OkStatus();
}

Status RankEngine::Scale(ChunkId) { return OkStatus(); }

Result<std::vector<Buffer>> RankEngine::Reducible(
    const bytecode::Group& group) {
  std::vector<Buffer> views;
  if (group.kind == bytecode::GroupKind::kTied) return views;  // no such model
  for (uint32_t c = 0; c < replicas_.size(); ++c) {
    if (StageOf(ChunkId(c)) != group.stage) continue;
    replicas_[c] = group.ranks.size();
    views.push_back({reinterpret_cast<std::byte*>(ReplicaSum(ChunkId(c))),
                     sizeof(float), nullptr});
  }
  return views;
}

Status RankEngine::CheckSum(ChunkId chunk, float sum) const {
  const size_t expected = replicas_[chunk.value];
  if (sum == static_cast<float>(expected)) return OkStatus();
  return RankError(
      fmt::format("the sum over {} replicas of stage {} came out as that of {}",
                  expected, StageOf(chunk).value, sum));
}

std::vector<std::pair<MicroBatch, double>> RankEngine::Losses() const {
  return losses_;
}

void RankEngine::VisitGradients(
    const std::function<void(const GradientView&)>&) const {}

MemoryReport RankEngine::Memory() const {
  const Options& options = setup_->options;
  MemoryReport report;
  report.peak_measured = memory_->peak();
  report.peak_predicted =
      PredictPeak(setup_->module->programs[rank_.value],
                  {MessageBytes(options.message), options.activation,
                   options.AfterInput()});
  return report;
}

}  // namespace pp::engine::synthetic
