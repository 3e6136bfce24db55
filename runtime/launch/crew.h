// Crew: what the rank threads and their leader share. Internal to this folder.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/launch/hang.h"
#include "runtime/launch/run.h"
#include "runtime/transport/transport.h"
#include "runtime/vm/vm.h"

namespace pp::launch {

// What one rank brings from one step.
struct RankStep {
  vm::StepResult vm;
  int64_t begin_ns = 0;  // whole step, with update
  int64_t end_ns = 0;
  std::vector<std::pair<MicroBatch, double>> losses;
  double loss_units = 1;
  engine::MemoryReport memory;
  // Of a rank in another process, where gradients are verified.
  std::vector<std::pair<std::string, std::vector<float>>> gradients{};
  // Of a rank in another process, after the last step, to be saved.
  std::vector<NamedWeight> weights{};
};

// The ranks that run in other processes.
class RemoteRanks {
 public:
  virtual ~RemoteRanks() = default;
  virtual void Release() = 0;                  // go on with the next step
  virtual void Stop(const Status& cause) = 0;  // does not wait for anybody
};

struct Crew {
  // `transports` by rank, null for a rank of another process. `members`: how
  // many ranks this crew counts, 0 for all.
  Crew(const bytecode::Module& module, engine::EngineFactory& factory,
       std::vector<std::unique_ptr<transport::Transport>> transports,
       const RunOptions& options, uint32_t members = 0);

  // Before the first rank runs; null when they are no longer to be told.
  void SetRemotes(RemoteRanks* remotes);

  // Body of a rank's thread.
  void RunRank(Rank rank);

  // ---- For the leader ----

  enum class News : uint8_t { kNone, kStepDone, kAllEnded };
  // Sleeps until there is news or a failure, `limit` at most.
  News WaitForNews(std::chrono::milliseconds limit);
  // Sleeps until all threads have ended; false: not within `limit`.
  bool WaitForEnd(std::chrono::milliseconds limit);
  void Release();  // after kStepDone: ranks go on with the next step
  // Ends the run with this cause, unless it has failed already.
  void Stop(const Status& cause);
  // Until `released` steps may have been gone on from; false: the run ends.
  bool WaitForRelease(uint64_t released);
  Status failure();
  std::vector<RankPlace> Places();

  // ---- For whoever hears a rank of another process ----

  void TakePlace(Rank rank, const RankPlace& place);
  void TakeStep(Rank rank, RankStep step);
  // `place` nullopt: it vanished, where it was last heard of.
  void TakeEnd(Rank rank, const Status& status, std::optional<RankPlace> place);

  const bytecode::Module& module;
  engine::EngineFactory& factory;
  const std::vector<std::unique_ptr<transport::Transport>> transports;
  const uint64_t first_step;
  const uint64_t steps;
  const std::chrono::milliseconds timeout;
  const bool with_trace;
  const std::optional<Injection> inject;

  // Written by the rank in its step, read by the leader between steps.
  std::vector<RankStep> last;
  std::vector<engine::Engine*> engines;
  std::vector<trace::RankTrace> traces;

 private:
  struct Member {
    RankState state = RankState::kStarting;
    int64_t since_ns = 0;                    // in this state
    const vm::Position* position = nullptr;  // while the machine lives
    RankPlace final_place;
    std::optional<RankPlace> remote;  // as last heard, at since_ns
  };

  Status Work(Rank rank);
  Status WorkSteps(Rank rank, engine::Engine& engine, vm::Vm& vm);
  Status RunStep(Rank rank, uint64_t step, engine::Engine& engine, vm::Vm& vm);
  bool Reported(Rank rank, uint64_t step);
  void SetState(Rank rank, RankState state);
  RankPlace PlaceOf(const Member& member, int64_t now_ns) const;
  void Fail(const Status& status);

  void AbortAll(const Status& cause);

  const uint32_t counted_;
  RemoteRanks* remotes_ = nullptr;
  std::mutex mutex_;
  std::condition_variable to_leader_;
  std::condition_variable to_ranks_;
  std::vector<Member> members_;
  uint32_t done_ = 0;   // ranks that have ended the current step
  uint32_t ended_ = 0;  // ranks whose thread has ended
  uint64_t released_;   // steps
  bool stopping_ = false;
  bool vanished_ = false;  // some remote rank has, and is the failure
  Status failure_;
};

}  // namespace pp::launch
