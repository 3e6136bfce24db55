#include "runtime/transport/inproc/inproc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/transport/inproc/hub.h"

namespace pp::transport::inproc {
namespace {

using std::chrono::steady_clock;

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

class Endpoint final : public Transport {
 public:
  Endpoint(std::shared_ptr<Hub> hub, Rank self)
      : hub_(std::move(hub)), self_(self) {}

  TransportTraits traits() const override { return {"inproc", true}; }
  Rank rank() const override { return self_; }
  uint32_t ranks() const override { return hub_->ranks(); }

  Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                         const Buffer& buffer) override {
    auto request = NewRequest(peer, lane, key);
    request->is_send = true;
    request->buffer = buffer;
    return Issue(std::move(request));
  }

  Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                         Buffer* buffer) override {
    auto request = NewRequest(peer, lane, key);
    request->target = buffer;
    request->expected_bytes = buffer->bytes;
    return Issue(std::move(request));
  }

  Status Wait(RequestId id, Deadline deadline) override;
  std::optional<TransferTimes> LastTransfer() const override { return last_; }
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                      Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Abort(const Status& cause) override { hub_->Abort(cause); }

 private:
  std::shared_ptr<Request> NewRequest(Rank peer, LaneId lane,
                                      const MessageKey& key) const {
    auto request = std::make_shared<Request>();
    request->self = self_;
    request->peer = peer;
    request->lane = lane;
    request->key = key;
    return request;
  }

  // OK while this endpoint may go on.
  Status Usable() {
    if (failed_.ok() && hub_->aborted()) failed_ = hub_->cause();
    return failed_;
  }
  // Remembers the first error.
  Status Keep(Status status) {
    if (failed_.ok()) failed_ = std::move(status);
    return failed_;
  }

  Result<RequestId> Issue(std::shared_ptr<Request> request);
  Status Finish(Request& request, bool in_time, steady_clock::time_point begin);
  Status Meet(std::span<const Rank> ranks, Buffer& buffer, const char* what,
              Deadline deadline);

  std::shared_ptr<Hub> hub_;
  Rank self_;
  Status failed_;
  std::vector<std::shared_ptr<Request>> requests_;  // by id; null: free
  std::vector<RequestId> free_;
  bool in_group_ = false;
  std::vector<std::shared_ptr<Request>> group_;  // held back until GroupEnd
  std::optional<TransferTimes> last_;
};

Result<RequestId> Endpoint::Issue(std::shared_ptr<Request> request) {
  PP_RETURN_IF_ERROR(Usable());
  if (request->peer.value >= ranks() || request->peer == self_) {
    return Fail(Keep(RankError(
        fmt::format("rank {} of {} cannot exchange messages with rank {}",
                    self_.value, ranks(), request->peer.value))));
  }
  RequestId id = requests_.size();
  if (free_.empty()) {
    requests_.push_back(request);
  } else {
    id = free_.back();
    free_.pop_back();
    requests_[id] = request;
  }
  if (in_group_) {
    group_.push_back(std::move(request));
  } else {
    hub_->Post(request);
  }
  return id;
}

Status Endpoint::Wait(RequestId id, Deadline deadline) {
  PP_RETURN_IF_ERROR(failed_);
  if (id >= requests_.size() || requests_[id] == nullptr) {
    return Keep(RankError(fmt::format("no request {} is in flight", id)));
  }
  if (in_group_) {
    return Keep(RankError(
        fmt::format("wait for {} inside a group", Describe(*requests_[id]))));
  }
  const std::shared_ptr<Request> request = std::move(requests_[id]);
  free_.push_back(id);
  const steady_clock::time_point begin = steady_clock::now();
  const bool in_time = hub_->bell(self_).WaitUntil(deadline, [&] {
    return request->done.load(std::memory_order_acquire) || hub_->aborted();
  });
  return Finish(*request, in_time, begin);
}

Status Endpoint::Finish(Request& request, bool in_time,
                        steady_clock::time_point begin) {
  if (request.done.load(std::memory_order_acquire)) {
    if (!request.failure.ok()) return Keep(request.failure);
    // Here and not at the match: what the target held before is given back
    // by the rank that owns it.
    if (!request.is_send) *request.target = std::move(request.buffer);
    last_ = TransferTimes{request.matched_ns, request.matched_ns};
    return OkStatus();
  }
  if (!in_time) {
    return Keep(RankError(
        fmt::format("waited {:.1f} s for {}: rank {} has not {} it",
                    SecondsSince(begin), Describe(request), request.peer.value,
                    request.is_send ? "received" : "sent")));
  }
  return Usable();
}

Status Endpoint::GroupBegin() {
  PP_RETURN_IF_ERROR(Usable());
  if (in_group_) return Keep(RankError("a group inside a group"));
  in_group_ = true;
  return OkStatus();
}

Status Endpoint::GroupEnd() {
  PP_RETURN_IF_ERROR(Usable());
  if (!in_group_) return Keep(RankError("the end of a group without a begin"));
  in_group_ = false;
  for (const std::shared_ptr<Request>& request : group_) hub_->Post(request);
  group_.clear();
  return OkStatus();
}

Status Endpoint::Meet(std::span<const Rank> ranks, Buffer& buffer,
                      const char* what, Deadline deadline) {
  const steady_clock::time_point begin = steady_clock::now();
  Collectives& collectives = hub_->collectives();
  const std::shared_ptr<Round> round = collectives.Join(self_, ranks, buffer);
  const auto done = [&] { return round->done.load(std::memory_order_acquire); };
  if (done()) {
    hub_->RingAll();
  } else if (!hub_->bell(self_).WaitUntil(
                 deadline, [&] { return done() || hub_->aborted(); })) {
    collectives.Leave(self_, *round);
    return Keep(
        RankError(fmt::format("waited {:.1f} s for the other ranks of a {}",
                              SecondsSince(begin), what)));
  }
  if (!done()) {
    collectives.Leave(self_, *round);
    return Usable();
  }
  if (!round->failure.ok()) return Keep(round->failure);
  if (!round->sum.empty()) {
    std::memcpy(buffer.data, round->sum.data(), buffer.bytes);
  }
  return OkStatus();
}

Status Endpoint::AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  std::vector<Rank> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  const bool distinct =
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  const bool known = !sorted.empty() && sorted.back().value < this->ranks();
  if (!distinct || !known ||
      !std::binary_search(sorted.begin(), sorted.end(), self_)) {
    return Keep(RankError(fmt::format(
        "a sum must list distinct ranks below {}, rank {} among them",
        this->ranks(), self_.value)));
  }
  return Meet(ranks, buffer, "sum", deadline);
}

Status Endpoint::Barrier(Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  std::vector<Rank> all;
  for (uint32_t r = 0; r < ranks(); ++r) all.push_back(Rank(r));
  Buffer nothing;
  return Meet(all, nothing, "barrier", deadline);
}

}  // namespace

std::vector<std::unique_ptr<Transport>> Create(uint32_t ranks) {
  const auto hub = std::make_shared<Hub>(ranks);
  std::vector<std::unique_ptr<Transport>> endpoints;
  for (uint32_t r = 0; r < ranks; ++r) {
    endpoints.push_back(std::make_unique<Endpoint>(hub, Rank(r)));
  }
  return endpoints;
}

}  // namespace pp::transport::inproc
