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
};

struct Crew {
  Crew(const bytecode::Module& module, engine::EngineFactory& factory,
       std::vector<std::unique_ptr<transport::Transport>> transports,
       const RunOptions& options);

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
  Status failure();
  std::vector<RankPlace> Places();

  const bytecode::Module& module;
  engine::EngineFactory& factory;
  const std::vector<std::unique_ptr<transport::Transport>> transports;
  const uint64_t steps;
  const std::chrono::milliseconds timeout;
  const bool with_trace;

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
  };

  Status Work(Rank rank);
  Status WorkSteps(Rank rank, engine::Engine& engine, vm::Vm& vm);
  Status RunStep(Rank rank, uint64_t step, engine::Engine& engine, vm::Vm& vm);
  bool Reported(Rank rank, uint64_t step);
  void SetState(Rank rank, RankState state);
  RankPlace PlaceOf(const Member& member, int64_t now_ns) const;
  void Fail(Rank rank, const Status& status);

  std::mutex mutex_;
  std::condition_variable to_leader_;
  std::condition_variable to_ranks_;
  std::vector<Member> members_;
  uint32_t done_ = 0;   // ranks that have ended the current step
  uint32_t ended_ = 0;  // ranks whose thread has ended
  uint64_t released_ = 0;
  bool stopping_ = false;
  Status failure_;
};

}  // namespace pp::launch
