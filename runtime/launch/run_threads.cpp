#include "runtime/launch/run_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "runtime/launch/crew.h"
#include "runtime/launch/remote.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;

// Micro-batches in ascending order, as one process would add them up.
double MeanLoss(const std::vector<RankStep>& ranks) {
  std::vector<std::pair<MicroBatch, double>> losses;
  for (const RankStep& rank : ranks) {
    losses.insert(losses.end(), rank.losses.begin(), rank.losses.end());
  }
  if (losses.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(losses.begin(), losses.end());
  double sum = 0;
  for (const auto& [mb, loss] : losses) sum += loss;
  return sum / ranks.front().loss_units;
}

StepRecord RecordOf(uint64_t step, const std::vector<RankStep>& ranks) {
  StepRecord record;
  record.step = step;
  record.loss = MeanLoss(ranks);
  int64_t begin_ns = ranks.front().begin_ns;
  int64_t end_ns = ranks.front().end_ns;
  std::vector<trace::RankSpan> spans;
  for (const RankStep& rank : ranks) {
    begin_ns = std::min(begin_ns, rank.begin_ns);
    end_ns = std::max(end_ns, rank.end_ns);
    spans.push_back({rank.vm.begin_ns, rank.vm.end_ns, rank.vm.busy_ns});
    record.peak_activations.push_back(rank.vm.peak_activations);
    record.instructions.push_back(rank.vm.instructions);
  }
  record.seconds = static_cast<double>(end_ns - begin_ns) / 1e9;
  record.summary = trace::Summarize(spans);
  return record;
}

// Leads a crew from the first step to the end.
class Leader {
 public:
  Leader(Crew& crew, const RunOptions& options)
      : crew_(crew), options_(options) {}

  Status Prepare() {
    if (!options_.verify_gradients) return OkStatus();
    PP_ASSIGN_OR_RETURN(auto reference, crew_.factory.CreateReference());
    verifier_ = std::make_unique<GradientVerifier>(std::move(reference));
    return OkStatus();
  }

  RunResult Lead() {
    // Often enough for a timeout to be kept, seldom enough to cost nothing.
    const milliseconds interval =
        std::clamp(options_.timeout / 4, milliseconds(1), milliseconds(50));
    while (true) {
      const Crew::News news = crew_.WaitForNews(interval);
      if (news == Crew::News::kAllEnded) break;
      if (news == Crew::News::kStepDone) FinishStep();
      if (MustEnd()) break;
    }
    return Finish();
  }

 private:
  void FinishStep() {
    StepRecord record =
        RecordOf(options_.first_step + result_.steps.size(), crew_.last);
    result_.memory.clear();
    for (const RankStep& rank : crew_.last) {
      result_.memory.push_back(rank.memory);
    }
    if (verifier_ != nullptr) {
      const Status status = verifier_->CompareStep(
          record.step, record.loss, std::span<const GradientMap>(Gradients()));
      if (!status.ok()) {
        return crew_.Stop(status.WithContext(
            fmt::format("gradients of step {}", record.step)));
      }
    }
    if (options_.WeightsAfter(record.step + 1)) {
      const Status status = TakeWeights(record.step + 1);
      if (!status.ok()) return crew_.Stop(status);
    }
    result_.steps.push_back(std::move(record));
    if (options_.on_step) options_.on_step(result_.steps.back());
    crew_.Release();
  }

  Status TakeWeights(uint64_t done) {
    const bool checkpoint = options_.CheckpointAfter(done);
    WeightMap all;
    for (uint32_t r = 0; r < crew_.module.ranks(); ++r) {
      PP_RETURN_IF_ERROR(AddWeights(
          Rank(r),
          crew_.engines[r] != nullptr ? WeightsOf(*crew_.engines[r], checkpoint)
                                      : std::move(crew_.last[r].weights),
          &all));
    }
    if (checkpoint) PP_RETURN_IF_ERROR(options_.on_checkpoint(done, all));
    if (done == options_.steps) result_.weights = std::move(all);
    return OkStatus();
  }

  // Of each rank, here or in another process.
  std::vector<GradientMap> Gradients() const {
    std::vector<GradientMap> ranks;
    for (uint32_t r = 0; r < crew_.module.ranks(); ++r) {
      if (crew_.engines[r] != nullptr) {
        ranks.push_back(GradientsOf(*crew_.engines[r]));
        continue;
      }
      GradientMap& map = ranks.emplace_back();
      for (const auto& [name, values] : crew_.last[r].gradients) {
        map[name] = values;
      }
    }
    return ranks;
  }

  // A failure, a signal, or a rank that does not go on.
  bool MustEnd() {
    if (!crew_.failure().ok()) return true;
    const char* signal = options_.stop_asked ? options_.stop_asked() : nullptr;
    if (signal != nullptr) {
      crew_.Stop(
          RankError(fmt::format("stopped by {} after {} complete steps", signal,
                                options_.first_step + result_.steps.size())));
      return true;
    }
    const std::vector<RankPlace> places = crew_.Places();
    const double limit =
        std::chrono::duration<double>(options_.timeout).count();
    const bool hangs =
        std::any_of(places.begin(), places.end(), [&](const RankPlace& place) {
          return place.state == RankState::kRunning && place.seconds > limit;
        });
    if (!hangs) return false;
    Describe(places);
    crew_.Stop(RankError(fmt::format("no progress for {:.1f} s: {}", limit,
                                     ExplainHang(crew_.module, places))));
    return true;
  }

  void Describe(const std::vector<RankPlace>& places) {
    for (uint32_t r = 0; r < places.size(); ++r) {
      result_.positions.push_back(
          DescribePlace(crew_.module, Rank(r), places[r]));
    }
  }

  RunResult Finish() {
    const bool all_ended = crew_.WaitForEnd(options_.grace);
    result_.status = crew_.failure();
    if (!result_.status.ok() && result_.positions.empty()) {
      Describe(crew_.Places());
    }
    result_.abandoned = !all_ended;
    if (all_ended) result_.traces = std::move(crew_.traces);
    if (verifier_ != nullptr) result_.gradients = verifier_->check();
    return std::move(result_);
  }

  Crew& crew_;
  const RunOptions& options_;
  std::unique_ptr<GradientVerifier> verifier_;
  RunResult result_;
};

// Leads `crew`, whose ranks of this process are `local`.
RunResult RunCrew(const std::shared_ptr<Crew>& crew,
                  const std::vector<Rank>& local, const RunOptions& options) {
  Leader leader(*crew, options);
  RunResult result;
  result.status = leader.Prepare();
  if (!result.status.ok()) return result;
  // The threads share the crew: an abandoned one still uses it.
  std::vector<std::thread> threads;
  for (Rank rank : local) {
    threads.emplace_back([crew, rank] { crew->RunRank(rank); });
  }
  result = leader.Lead();
  for (std::thread& thread : threads) {
    result.abandoned ? thread.detach() : thread.join();
  }
  return result;
}

}  // namespace

RunResult RunThreads(
    const bytecode::Module& module, engine::EngineFactory& factory,
    std::vector<std::unique_ptr<transport::Transport>> transports,
    const RunOptions& options) {
  std::vector<Rank> local;
  for (uint32_t r = 0; r < module.ranks(); ++r) local.push_back(Rank(r));
  return RunCrew(
      std::make_shared<Crew>(module, factory, std::move(transports), options),
      local, options);
}

RunResult RunWithPeers(const bytecode::Module& module,
                       engine::EngineFactory& factory,
                       std::unique_ptr<transport::Transport> transport,
                       const RunOptions& options, std::vector<Peer> peers) {
  std::vector<std::unique_ptr<transport::Transport>> transports(module.ranks());
  transports.front() = std::move(transport);
  const auto crew =
      std::make_shared<Crew>(module, factory, std::move(transports), options);
  RemoteCrew remotes(std::move(peers), *crew);
  crew->SetRemotes(&remotes);
  RunResult result = RunCrew(crew, {Rank(0)}, options);
  if (!result.status.ok()) remotes.Stop(result.status);
  crew->SetRemotes(nullptr);
  return result;
}

}  // namespace pp::launch
