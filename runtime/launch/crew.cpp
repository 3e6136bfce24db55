#include "runtime/launch/crew.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "runtime/base/clock.h"

namespace pp::launch {
Crew::Crew(const bytecode::Module& module, engine::EngineFactory& factory,
           std::vector<std::unique_ptr<transport::Transport>> transports,
           const RunOptions& options, uint32_t members)
    : module(module),
      factory(factory),
      transports(std::move(transports)),
      first_step(options.first_step),
      steps(options.steps),
      timeout(options.timeout),
      with_trace(options.trace),
      inject(options.inject),
      last(module.ranks()),
      engines(module.ranks()),
      traces(module.ranks()),
      counted_(members == 0 ? module.ranks() : members),
      members_(module.ranks()),
      released_(options.first_step) {}

void Crew::SetRemotes(RemoteRanks* remotes) {
  std::lock_guard lock(mutex_);
  remotes_ = remotes;
}

// ---- The ranks ----

void Crew::RunRank(Rank rank) {
  pthread_setname_np(pthread_self(),
                     fmt::format("rank {}", rank.value).c_str());
  const Status status = Work(rank);
  std::lock_guard lock(mutex_);
  if (!status.ok()) Fail(status);
  members_[rank.value].state = RankState::kEnded;
  ++ended_;
  to_leader_.notify_all();
}

// Under the lock.
void Crew::Fail(const Status& status) {
  stopping_ = true;
  to_ranks_.notify_all();
  // An aborted rank repeats the cause of another one.
  const bool own = status.code() != StatusCode::kAborted;
  if (own && failure_.ok()) failure_ = status;
  if (own) AbortAll(failure_);
}

// Under the lock. One endpoint reaches all of its process.
void Crew::AbortAll(const Status& cause) {
  for (const auto& transport : transports) {
    if (transport == nullptr) continue;
    transport->Abort(cause);
    break;
  }
  if (remotes_ != nullptr) remotes_->Stop(cause);
}

// Engine and machine live and die on the rank's own thread: allocators tell
// ranks apart by their threads.
Status Crew::Work(Rank rank) {
  auto created = factory.Create(rank);
  if (!created) {
    return created.error().WithContext(
        fmt::format("rank {} cannot start", rank.value));
  }
  engine::Engine& engine = **created;
  if (auto queue = engine.queue()) {
    PP_RETURN_IF_ERROR(
        transports[rank.value]
            ->Attach(std::move(queue),
                     std::chrono::steady_clock::now() + timeout)
            .WithContext(fmt::format("rank {} cannot start", rank.value)));
  }
  // The leader's watchdog comes first: it knows about all ranks.
  vm::Vm vm(module, rank, engine, *transports[rank.value],
            {.timeout = 2 * timeout + std::chrono::seconds(2),
             .trace = with_trace ? &traces[rank.value] : nullptr,
             .fault = FaultOf(inject, rank)});
  {
    std::lock_guard lock(mutex_);
    engines[rank.value] = &engine;
    members_[rank.value].position = &vm.position();
  }
  const Status status = WorkSteps(rank, engine, vm);
  std::lock_guard lock(mutex_);
  Member& member = members_[rank.value];
  member.final_place = PlaceOf(member, NowNs());
  member.position = nullptr;
  engines[rank.value] = nullptr;
  return status;
}

Status Crew::WorkSteps(Rank rank, engine::Engine& engine, vm::Vm& vm) {
  for (uint64_t step = first_step; step < steps; ++step) {
    PP_RETURN_IF_ERROR(RunStep(rank, step, engine, vm));
    if (!Reported(rank, step)) break;
  }
  return OkStatus();
}

Status Crew::RunStep(Rank rank, uint64_t step, engine::Engine& engine,
                     vm::Vm& vm) {
  SetState(rank, RankState::kRunning);
  RankStep& record = last[rank.value];
  record.begin_ns = NowNs();
  PP_ASSIGN_OR_RETURN(record.vm, vm.RunStep(step));
  record.end_ns = NowNs();
  transports[rank.value]->Rest();
  record.losses = engine.Losses();
  record.loss_units = engine.LossUnits();
  record.memory = engine.Memory();
  return OkStatus();
}

// Tells the leader and waits for it. False: the run is ending.
bool Crew::Reported(Rank rank, uint64_t step) {
  std::unique_lock lock(mutex_);
  members_[rank.value].state = RankState::kIdle;
  if (++done_ == counted_) to_leader_.notify_all();
  to_ranks_.wait(lock, [&] { return stopping_ || released_ > step; });
  return !stopping_;
}

void Crew::SetState(Rank rank, RankState state) {
  std::lock_guard lock(mutex_);
  members_[rank.value].state = state;
  members_[rank.value].since_ns = NowNs();
}

// ---- The leader ----

Crew::News Crew::WaitForNews(std::chrono::milliseconds limit) {
  const auto news = [&] {
    if (ended_ == counted_) return News::kAllEnded;
    if (done_ == counted_) return News::kStepDone;
    return News::kNone;
  };
  std::unique_lock lock(mutex_);
  to_leader_.wait_for(lock, limit,
                      [&] { return news() != News::kNone || stopping_; });
  return news();
}

bool Crew::WaitForEnd(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return to_leader_.wait_for(lock, limit, [&] { return ended_ == counted_; });
}

bool Crew::WaitForRelease(uint64_t released) {
  std::unique_lock lock(mutex_);
  to_ranks_.wait(lock, [&] { return stopping_ || released_ >= released; });
  return !stopping_;
}

void Crew::Release() {
  RemoteRanks* remotes = nullptr;
  {
    std::lock_guard lock(mutex_);
    done_ = 0;
    ++released_;
    to_ranks_.notify_all();
    remotes = remotes_;
  }
  if (remotes != nullptr) remotes->Release();
}

void Crew::Stop(const Status& cause) {
  std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = cause;
  stopping_ = true;
  to_ranks_.notify_all();
  to_leader_.notify_all();
  AbortAll(failure_);
}

// ---- Ranks of other processes ----

void Crew::TakePlace(Rank rank, const RankPlace& place) {
  std::lock_guard lock(mutex_);
  members_[rank.value].state = place.state;
  members_[rank.value].since_ns = NowNs();
  members_[rank.value].remote = place;
}

void Crew::TakeStep(Rank rank, RankStep step) {
  std::lock_guard lock(mutex_);
  last[rank.value] = std::move(step);
  members_[rank.value].state = RankState::kIdle;
  if (++done_ == counted_) to_leader_.notify_all();
}

void Crew::TakeEnd(Rank rank, const Status& status,
                   std::optional<RankPlace> place) {
  std::lock_guard lock(mutex_);
  Member& member = members_[rank.value];
  if (member.state == RankState::kEnded) return;
  if (place) member.remote = *place;
  // A rank that vanished without a word is the cause of what its peers say
  // about their transfers, whoever was heard first.
  const bool vanished = !place && !status.ok();
  if (vanished && !vanished_) failure_ = status;
  vanished_ |= vanished;
  if (!status.ok()) Fail(status);
  member.state = RankState::kEnded;
  ++ended_;
  to_leader_.notify_all();
}

Status Crew::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

// Under the lock.
RankPlace Crew::PlaceOf(const Member& member, int64_t now_ns) const {
  if (member.remote) {
    // A process that does not run says nothing: its time goes on here.
    RankPlace place = *member.remote;
    place.state = member.state;
    place.seconds += static_cast<double>(now_ns - member.since_ns) / 1e9;
    return place;
  }
  if (member.position == nullptr) {
    RankPlace place = member.final_place;
    place.state = member.state;
    return place;
  }
  const vm::Position& position = *member.position;
  // The machine's own time is that of the step before until it has begun.
  const int64_t since_ns = std::max(position.since_ns.load(), member.since_ns);
  return {member.state, position.step.load(), position.pc.load(),
          static_cast<double>(now_ns - since_ns) / 1e9};
}

std::vector<RankPlace> Crew::Places() {
  std::lock_guard lock(mutex_);
  const int64_t now_ns = NowNs();
  std::vector<RankPlace> places;
  for (const Member& member : members_) {
    places.push_back(PlaceOf(member, now_ns));
  }
  return places;
}

}  // namespace pp::launch
