#include "runtime/launch/worker.h"

#include <fmt/format.h>

#include <atomic>
#include <future>
#include <thread>

#include "runtime/base/clock.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kHeartbeat{100};
constexpr auto kPatience = seconds(3);  // for rank 0 to act on a signal first

Deadline Soon() { return steady_clock::now() + seconds(5); }

// Runs this rank in a crew of one; rank 0 is heard on a thread of its own.
class Worker {
 public:
  Worker(std::shared_ptr<Crew> crew, Rank rank, const RunOptions& options,
         Connection& connection)
      : crew_(std::move(crew)),
        rank_(rank),
        options_(options),
        connection_(connection) {}

  WorkerResult Run() {
    std::thread body([crew = crew_, rank = rank_] { crew->RunRank(rank); });
    auto ear = std::async(std::launch::async, [this] { Listen(); });
    Lead();
    const bool ended = crew_->WaitForEnd(options_.grace);
    WorkerResult result;
    result.status = crew_->failure();
    result.abandoned = !ended;
    const RankPlace place = crew_->Places()[rank_.value];
    if (!result.status.ok()) {
      result.place = DescribePlace(crew_->module, rank_, place);
    }
    Ending ending{result.status, place, {}};
    if (ended) ending.trace = std::move(crew_->traces[rank_.value]);
    // Rank 0 may be gone: then there is nobody to tell.
    (void)connection_.Send(FrameType::kEnd, Encode(ending), Soon());
    over_ = true;
    // Rank 0 closes when it has heard all. Closing first could take back what
    // is on its way.
    const bool closed = ear.wait_for(seconds(2)) == std::future_status::ready;
    result.told = closed && !lost_;
    connection_.Shut();
    ear.wait();
    ended ? body.join() : body.detach();
    return result;
  }

 private:
  // What rank 0 says, until it says nothing more.
  void Listen() {
    for (;;) {
      auto frame = connection_.Receive(steady_clock::now() + seconds(3600));
      if (frame && !*frame) continue;
      if (over_) return;
      if (!frame) {
        lost_ = true;
        return crew_->Stop(
            RankError("rank 0 is gone: " + frame.error().message()));
      }
      if ((*frame)->type == FrameType::kRelease) {
        crew_->Release();
      } else if ((*frame)->type == FrameType::kAbort) {
        crew_->Stop(Status(StatusCode::kAborted,
                           DecodeStatus((*frame)->bytes).message()));
      }
    }
  }

  void Lead() {
    uint64_t told = options_.first_step;  // steps
    while (crew_->failure().ok()) {
      const Crew::News news = crew_->WaitForNews(kHeartbeat);
      if (news == Crew::News::kAllEnded) return;
      if (news == Crew::News::kStepDone) {
        Tell(++told);
        if (!crew_->WaitForRelease(told)) return;
        continue;
      }
      (void)connection_.Send(FrameType::kPlace,
                             Encode(crew_->Places()[rank_.value]), Soon());
      ActOnSignal();
    }
  }

  void Tell(uint64_t done) {
    RankStep step = crew_->last[rank_.value];
    if (options_.WeightsAfter(done)) {
      step.weights = WeightsOf(*crew_->engines[rank_.value],
                               options_.CheckpointAfter(done));
    }
    if (options_.verify_gradients) {
      crew_->engines[rank_.value]->VisitGradients(
          [&](const engine::GradientView& view) {
            step.gradients.emplace_back(
                view.name,
                std::vector<float>(view.data, view.data + view.count));
          });
    }
    (void)connection_.Send(FrameType::kStep, Encode(step),
                           steady_clock::now() + options_.timeout);
  }

  // Launchers send signals to all ranks, and rank 0 ends the run in order.
  void ActOnSignal() {
    const char* signal = options_.stop_asked ? options_.stop_asked() : nullptr;
    if (signal == nullptr) return;
    if (signalled_ == Deadline()) signalled_ = steady_clock::now();
    if (steady_clock::now() - signalled_ > kPatience) {
      crew_->Stop(RankError(fmt::format("stopped by {}", signal)));
    }
  }

  std::shared_ptr<Crew> crew_;
  Rank rank_;
  const RunOptions& options_;
  Connection& connection_;
  std::atomic<bool> over_{false};
  std::atomic<bool> lost_{false};  // rank 0 went without being asked to
  Deadline signalled_{};
};

}  // namespace

Result<std::string> Introduce(Connection& connection, const Hello& mine,
                              Deadline deadline) {
  PP_RETURN_IF_ERROR(
      connection.Send(FrameType::kHello, Encode(mine), deadline));
  while (steady_clock::now() < deadline) {
    PP_ASSIGN_OR_RETURN(const auto frame, connection.Receive(deadline));
    if (!frame) break;
    if (frame->type == FrameType::kClock) {
      PP_RETURN_IF_ERROR(
          connection.Send(FrameType::kClock, Encode(NowNs()), deadline));
    } else if (frame->type == FrameType::kWelcome) {
      return DecodeText(frame->bytes);
    } else if (frame->type == FrameType::kRefuse) {
      return Fail(DecodeStatus(frame->bytes));
    } else {
      return Fail(RankError("rank 0 says what does not belong here"));
    }
  }
  return Fail(RankError("rank 0 did not answer in time"));
}

WorkerResult RunWorker(const bytecode::Module& module,
                       engine::EngineFactory& factory, Rank rank,
                       std::unique_ptr<transport::Transport> transport,
                       const RunOptions& options, Connection& connection) {
  std::vector<std::unique_ptr<transport::Transport>> transports(module.ranks());
  transports[rank.value] = std::move(transport);
  // Shared with the rank's thread: an abandoned one still uses it.
  auto crew = std::make_shared<Crew>(module, factory, std::move(transports),
                                     options, 1);
  connection.SetLimit(size_t{1} << 20);
  return Worker(std::move(crew), rank, options, connection).Run();
}

}  // namespace pp::launch
