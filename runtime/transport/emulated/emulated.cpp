#include "runtime/transport/emulated/emulated.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/transport/emulated/machine.h"
#include "runtime/transport/requests.h"

namespace pp::transport::emulated {
namespace {

class Endpoint final : public Transport {
 public:
  Endpoint(std::shared_ptr<Machine> machine, Rank self)
      : machine_(std::move(machine)), self_(self) {}

  TransportTraits traits() const override { return {"emulated", true}; }
  Rank rank() const override { return self_; }
  uint32_t ranks() const override { return machine_->ranks(); }

  Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                         const Buffer& buffer) override {
    return Add({true, self_, peer, lane, key, buffer});
  }
  Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                         Buffer* buffer) override {
    return Add({false, self_, peer, lane, key, {}, buffer});
  }
  Status Wait(RequestId id, Deadline deadline) override;
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                      Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Rest() override {
    std::lock_guard lock(machine_->mutex);
    machine_->Rest(self_);
  }
  void Abort(const Status& cause) override {
    std::lock_guard lock(machine_->mutex);
    machine_->Abort(cause);
  }

 private:
  // Under the lock. OK while this endpoint may go on; it runs.
  Status Enter() {
    if (failed_.ok()) failed_ = machine_->aborted();
    machine_->Wake(self_);
    return failed_;
  }
  Status Keep(Status status) {
    if (failed_.ok()) failed_ = std::move(status);
    return failed_;
  }
  Result<RequestId> Add(End end);

  std::shared_ptr<Machine> machine_;
  Rank self_;
  Status failed_;
  RequestTable<std::shared_ptr<End>> requests_;
  bool in_group_ = false;
  std::vector<std::shared_ptr<End>> group_;  // held back until GroupEnd
};

Result<RequestId> Endpoint::Add(End end) {
  std::lock_guard lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  if (end.peer.value >= ranks() || end.peer == self_) {
    return Fail(Keep(RankError(
        fmt::format("rank {} of {} cannot exchange messages with rank {}",
                    self_.value, ranks(), end.peer.value))));
  }
  auto shared = std::make_shared<End>(std::move(end));
  if (in_group_) {
    group_.push_back(shared);
  } else {
    machine_->Issue(self_, {shared});
  }
  return requests_.Add(std::move(shared));
}

Status Endpoint::Wait(RequestId id, Deadline deadline) {
  std::unique_lock lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  const std::shared_ptr<End> end = requests_.Find(id);
  if (end == nullptr) {
    return Keep(RankError(fmt::format("no request {} is in flight", id)));
  }
  if (in_group_) {
    return Keep(
        RankError(fmt::format("wait for {} inside a group", Describe(*end))));
  }
  const Status waited = machine_->Wait(lock, self_, Describe(*end), deadline,
                                       [&] { return end->done; });
  if (!waited.ok()) return Keep(waited);
  requests_.Take(id).reset();
  // Here: what the target held before is given back by the rank that owns it.
  if (!end->is_send) *end->target = std::move(end->buffer);
  return OkStatus();
}

Status Endpoint::GroupBegin() {
  std::lock_guard lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  if (in_group_) return Keep(RankError("a group inside a group"));
  in_group_ = true;
  return OkStatus();
}

Status Endpoint::GroupEnd() {
  std::lock_guard lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  if (!in_group_) return Keep(RankError("the end of a group that is not open"));
  in_group_ = false;
  if (group_.empty()) return OkStatus();
  machine_->Issue(self_, std::move(group_));
  group_.clear();
  return OkStatus();
}

Status Endpoint::AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline deadline) {
  std::unique_lock lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  PP_RETURN_IF_ERROR(Keep(CheckSumRanks(ranks, self_, this->ranks())));
  const auto sum =
      machine_->IssueSum(self_, {ranks.begin(), ranks.end()}, buffer);
  const Status waited =
      machine_->Wait(lock, self_, "a sum that others have not come to",
                     deadline, [&] { return sum->done; });
  if (!waited.ok()) return Keep(waited);
  if (!sum->failure.ok()) return Keep(sum->failure);
  if (buffer.bytes > 0) {
    std::memcpy(buffer.data, sum->result.data(), buffer.bytes);
  }
  return OkStatus();
}

Status Endpoint::Barrier(Deadline deadline) {
  std::unique_lock lock(machine_->mutex);
  PP_RETURN_IF_ERROR(Enter());
  return Keep(machine_->Barrier(lock, self_, deadline));
}

}  // namespace

std::vector<std::unique_ptr<Transport>> Create(uint32_t ranks, Rules rules) {
  auto machine = std::make_shared<Machine>(ranks, rules);
  std::vector<std::unique_ptr<Transport>> ends;
  for (uint32_t r = 0; r < ranks; ++r) {
    ends.push_back(std::make_unique<Endpoint>(machine, Rank(r)));
  }
  return ends;
}

}  // namespace pp::transport::emulated
