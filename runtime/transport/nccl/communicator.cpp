#include "runtime/transport/nccl/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace pp::transport::nccl {
namespace {

using std::chrono::steady_clock;

// An orderly end waits for peers; not for ones that are gone.
constexpr std::chrono::seconds kFarewell{5};

void Nap() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

}  // namespace

uint32_t Communicator::NumberOf(Rank rank) const {
  const auto& members = plan->members;
  return static_cast<uint32_t>(
      std::lower_bound(members.begin(), members.end(), rank) - members.begin());
}

Communicators::~Communicators() { Close(); }

const Communicator* Communicators::Lane(LaneId lane) const {
  if (lane.value >= lanes_.size()) return nullptr;
  const Communicator& found = lanes_[lane.value];
  return found.comm == nullptr ? nullptr : &found;
}

const Communicator* Communicators::sums() const {
  return sums_.comm == nullptr ? nullptr : &sums_;
}

Status Communicators::Open(const std::string& id,
                           std::shared_ptr<device::Queue> queue,
                           Deadline deadline) {
  queue_ = std::move(queue);
  for (uint32_t r = 0; r < ranks_; ++r) everybody_.members.push_back(Rank(r));
  PP_ASSIGN_OR_RETURN(all_.comm,
                      api_->Init(id, ranks_, rank_.value, queue_->device()));
  all_.plan = &everybody_;
  PP_ASSIGN_OR_RETURN(all_.stream, queue_->NewStream());
  PP_RETURN_IF_ERROR(
      Settle(all_, deadline).WithContext("meeting the other ranks"));
  for (const CommPlan& plan : plan_.lanes) {
    PP_ASSIGN_OR_RETURN(lanes_.emplace_back(), SplitFor(plan, deadline));
  }
  PP_ASSIGN_OR_RETURN(sums_, SplitFor(plan_.sums, deadline));
  for (const Communicator& lane : lanes_) {
    PP_RETURN_IF_ERROR(WarmUp(lane, deadline));
  }
  return WarmUp(sums_, deadline);
}

Result<Communicator> Communicators::SplitFor(const CommPlan& plan,
                                             Deadline deadline) {
  Communicator made;
  made.plan = &plan;
  // The plan is the same on all ranks: none of them splits for nobody.
  if (plan.members.empty()) return made;
  PP_ASSIGN_OR_RETURN(made.comm, api_->Split(all_.comm, plan.Has(rank_)));
  PP_RETURN_IF_ERROR(Settle(all_, deadline));
  if (made.comm == nullptr) return made;
  PP_ASSIGN_OR_RETURN(made.stream, queue_->NewStream());
  if (Status status = Settle(made, deadline); !status.ok()) {
    api_->Abort(made.comm);
    return Fail(std::move(status));
  }
  return made;
}

// One edge after another, in an order that is the same everywhere: whoever
// waits for a connection waits for the first one that is not there yet.
Status Communicators::WarmUp(const Communicator& used, Deadline deadline) {
  if (used.comm == nullptr) return OkStatus();
  for (const Edge& edge : used.plan->edges) {
    if (edge.from != rank_ && edge.to != rank_) continue;
    PP_RETURN_IF_ERROR(
        Exchange(used, edge, deadline)
            .WithContext(fmt::format("connecting rank {} to rank {}",
                                     edge.from.value, edge.to.value)));
  }
  return OkStatus();
}

Status Communicators::Exchange(const Communicator& used, const Edge& edge,
                               Deadline deadline) {
  constexpr size_t kBytes = 4;
  PP_ASSIGN_OR_RETURN(Buffer buffer, queue_->Allocate(kBytes));
  PP_ASSIGN_OR_RETURN(const device::Mark ready, queue_->Record());
  PP_RETURN_IF_ERROR(queue_->Follow(used.stream, ready));
  void* const stream = queue_->driver().Native(used.stream);
  if (edge.from == rank_) {
    PP_RETURN_IF_ERROR(api_->Send(used.comm, buffer.data, kBytes,
                                  used.NumberOf(edge.to), stream));
  } else {
    PP_RETURN_IF_ERROR(api_->Recv(used.comm, buffer.data, kBytes,
                                  used.NumberOf(edge.from), stream));
  }
  PP_RETURN_IF_ERROR(Settle(used, deadline));
  PP_ASSIGN_OR_RETURN(const device::Mark done, queue_->Record(used.stream));
  PP_RETURN_IF_ERROR(queue_->Follow(done));  // before the buffer is free again
  return Await(done, used, deadline);
}

Status Communicators::Settle(const Communicator& used, Deadline deadline) {
  while (true) {
    PP_ASSIGN_OR_RETURN(const bool ready, api_->Ready(used.comm));
    if (ready) return OkStatus();
    PP_RETURN_IF_ERROR(fate_->Check());
    if (steady_clock::now() > deadline) {
      return RankError("the deadline has passed: a peer has not come");
    }
    Nap();
  }
}

Status Communicators::Await(const device::Mark& mark, const Communicator& used,
                            Deadline deadline) {
  while (true) {
    PP_ASSIGN_OR_RETURN(
        const bool passed,
        queue_->driver().WaitFor(mark.event(), std::chrono::milliseconds(1)));
    if (passed) return OkStatus();
    PP_RETURN_IF_ERROR(Settle(used, deadline));
    PP_RETURN_IF_ERROR(fate_->Check());
    if (steady_clock::now() > deadline) {
      return RankError("the deadline has passed: a peer has not come");
    }
  }
}

Status Communicators::Check() {
  PP_RETURN_IF_ERROR(fate_->Check());
  const auto check = [&](const Communicator& used) -> Status {
    if (used.comm == nullptr) return OkStatus();
    PP_ASSIGN_OR_RETURN(const bool ready, api_->Ready(used.comm));
    (void)ready;
    return OkStatus();
  };
  for (const Communicator& lane : lanes_) PP_RETURN_IF_ERROR(check(lane));
  PP_RETURN_IF_ERROR(check(sums_));
  return check(all_);
}

std::vector<Communicator*> Communicators::Opened() {
  std::vector<Communicator*> opened;
  for (Communicator& lane : lanes_) opened.push_back(&lane);
  opened.insert(opened.end(), {&sums_, &all_});
  std::erase_if(opened, [](const auto* used) { return used->comm == nullptr; });
  return opened;
}

void Communicators::AbortAll() {
  for (Communicator* used : Opened()) {
    api_->Abort(std::exchange(used->comm, nullptr));
  }
}

void Communicators::Close() {
  if (!Check().ok()) return AbortAll();
  const Deadline deadline = steady_clock::now() + kFarewell;
  for (Communicator* used : Opened()) {
    if (!api_->Finalize(used->comm).ok() || !Settle(*used, deadline).ok()) {
      return AbortAll();
    }
    api_->Destroy(std::exchange(used->comm, nullptr));
  }
}

}  // namespace pp::transport::nccl
