#include "runtime/transport/inproc/inproc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/transport/inproc/hub.h"
#include "runtime/transport/requests.h"

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

  TransportTraits traits() const override { return {"inproc", !copies_}; }
  Rank rank() const override { return self_; }
  uint32_t ranks() const override { return hub_->ranks(); }

  Status Attach(std::shared_ptr<device::Queue> queue, Deadline) override;

  Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                         const Buffer& buffer) override {
    Request& request = NewRequest(peer, lane, key);
    request.is_send = true;
    request.buffer = buffer;
    return Issue(request);
  }

  Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                         Buffer* buffer) override {
    Request& request = NewRequest(peer, lane, key);
    request.is_send = false;
    request.target = buffer;
    request.expected_bytes = buffer->bytes;
    return Issue(request);
  }

  Status Wait(RequestId id, Deadline deadline) override;
  std::optional<TransferTimes> LastTransfer() const override { return last_; }
  TransferMarks LastTransferMarks() const override { return last_marks_; }
  Status Check() override { return Usable(); }
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                      Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Abort(const Status& cause) override { hub_->Abort(cause); }

 private:
  Request& NewRequest(Rank peer, LaneId lane, const MessageKey& key) const {
    Request& request = hub_->NewRequest(self_);
    request.self = self_;
    request.peer = peer;
    request.lane = lane;
    request.key = key;
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

  Result<RequestId> Issue(Request& request);
  Status WaitFor(Request& request, Deadline deadline);
  Status HandOver(Request& request);
  Status HandOverQueued(Request& request);
  Result<device::Mark> CopyIn(Request& request);
  Result<std::shared_ptr<Round>> Meet(std::span<const Rank> ranks,
                                      const Buffer& part,
                                      const device::Mark& mark,
                                      const char* what, Deadline deadline);
  Status SumQueued(std::span<const Rank> ranks, Buffer& buffer,
                   Deadline deadline);
  Status AddUpQueued(const Round& round, const Buffer& into);

  std::shared_ptr<Hub> hub_;
  Rank self_;
  Status failed_;
  RequestTable<Request*> requests_;
  bool in_group_ = false;
  std::vector<Request*> group_;  // held back until GroupEnd
  std::optional<TransferTimes> last_;

  // On a GPU.
  std::shared_ptr<device::Queue> queue_;
  bool copies_ = false;  // ranks are on several GPUs
  device::Stream copy_stream_ = nullptr;
  TransferMarks last_marks_;
};

Status Endpoint::Attach(std::shared_ptr<device::Queue> queue, Deadline) {
  PP_RETURN_IF_ERROR(Usable());
  queue_ = std::move(queue);
  copies_ = queue_->driver().devices() > 1 && ranks() > 1;
  if (!copies_) return OkStatus();
  auto stream = queue_->NewStream();
  if (!stream) return Keep(stream.error());
  copy_stream_ = *stream;
  return OkStatus();
}

Result<RequestId> Endpoint::Issue(Request& request) {
  PP_RETURN_IF_ERROR(Usable());
  if (request.peer.value >= ranks() || request.peer == self_) {
    return Fail(Keep(RankError(
        fmt::format("rank {} of {} cannot exchange messages with rank {}",
                    self_.value, ranks(), request.peer.value))));
  }
  if (queue_ != nullptr) {
    auto mark = queue_->Record();
    if (!mark) return Fail(Keep(mark.error()));
    request.mark = std::move(*mark);
  }
  const RequestId id = requests_.Add(&request);
  if (in_group_) {
    group_.push_back(&request);
  } else {
    hub_->Post(request);
  }
  return id;
}

Status Endpoint::Wait(RequestId id, Deadline deadline) {
  PP_RETURN_IF_ERROR(failed_);
  if (requests_.Find(id) == nullptr) {
    return Keep(RankError(fmt::format("no request {} is in flight", id)));
  }
  if (in_group_) {
    return Keep(RankError(fmt::format("wait for {} inside a group",
                                      Describe(*requests_.Find(id)))));
  }
  Request& request = *requests_.Take(id);
  if (!request.done.load(std::memory_order_acquire)) {
    PP_RETURN_IF_ERROR(WaitFor(request, deadline));
  }
  Status status = request.failure.ok() ? HandOver(request) : request.failure;
  hub_->GiveBack(request);
  return Keep(std::move(status));
}

// OK: the request is done.
Status Endpoint::WaitFor(Request& request, Deadline deadline) {
  const auto done = [&] {
    return request.done.load(std::memory_order_acquire);
  };
  const steady_clock::time_point begin = steady_clock::now();
  const bool in_time = hub_->bell(self_).WaitUntil(
      deadline, [&] { return done() || hub_->aborted(); });
  if (done()) return OkStatus();
  if (!in_time) {
    return Keep(RankError(
        fmt::format("waited {:.1f} s for {}: rank {} has not {} it",
                    SecondsSince(begin), Describe(request), request.peer.value,
                    request.is_send ? "received" : "sent")));
  }
  return Usable();
}

Status Endpoint::HandOver(Request& request) {
  if (queue_ != nullptr) return HandOverQueued(request);
  // Here and not at the match: what the target held before is given back
  // by the rank that owns it.
  if (!request.is_send) *request.target = std::move(request.buffer);
  last_ = TransferTimes{request.matched_ns, request.matched_ns};
  return OkStatus();
}

// The two sides have met on the host; on the device each goes on when the other
// one gets to its side.
Status Endpoint::HandOverQueued(Request& request) {
  last_marks_ = {{request.mark, request.peer_mark}, {}};
  if (request.is_send || !copies_) {
    if (!request.is_send) *request.target = std::move(request.buffer);
    return queue_->Follow(request.peer_mark);
  }
  PP_ASSIGN_OR_RETURN(last_marks_.ended, CopyIn(request));
  return queue_->Follow(last_marks_.ended);
}

// Beside the compute stream: the host is ahead of the device, and what it
// queues here overlaps with what it has queued there.
Result<device::Mark> Endpoint::CopyIn(Request& request) {
  PP_RETURN_IF_ERROR(queue_->Follow(copy_stream_, request.mark));
  PP_RETURN_IF_ERROR(queue_->Follow(copy_stream_, request.peer_mark));
  PP_RETURN_IF_ERROR(queue_->driver().Copy(
      copy_stream_, request.target->data, queue_->device(), request.buffer.data,
      request.peer_mark.device(), request.buffer.bytes));
  PP_ASSIGN_OR_RETURN(device::Mark done, queue_->Record(copy_stream_));
  queue_->KeepUntil(done, std::move(request.buffer));
  return done;
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
  for (Request* request : group_) hub_->Post(*request);
  group_.clear();
  return OkStatus();
}

Result<std::shared_ptr<Round>> Endpoint::Meet(std::span<const Rank> ranks,
                                              const Buffer& part,
                                              const device::Mark& mark,
                                              const char* what,
                                              Deadline deadline) {
  const steady_clock::time_point begin = steady_clock::now();
  Collectives& collectives = hub_->collectives();
  const std::shared_ptr<Round> round =
      collectives.Join(self_, ranks, part, mark);
  const auto done = [&] { return round->done.load(std::memory_order_acquire); };
  if (done()) {
    hub_->RingAll();
  } else if (!hub_->bell(self_).WaitUntil(
                 deadline, [&] { return done() || hub_->aborted(); })) {
    collectives.Leave(self_, *round);
    return Fail(Keep(
        RankError(fmt::format("waited {:.1f} s for the other ranks of a {}",
                              SecondsSince(begin), what))));
  }
  if (!done()) {
    collectives.Leave(self_, *round);
    return Fail(Usable());
  }
  if (!round->failure.ok()) return Fail(Keep(round->failure));
  return round;
}

Status Endpoint::AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  PP_RETURN_IF_ERROR(Keep(CheckSumRanks(ranks, self_, this->ranks())));
  if (queue_ != nullptr) return Keep(SumQueued(ranks, buffer, deadline));
  PP_ASSIGN_OR_RETURN(const auto round,
                      Meet(ranks, buffer, {}, "sum", deadline));
  if (!round->sum.empty()) {
    std::memcpy(buffer.data, round->sum.data(), buffer.bytes);
  }
  return OkStatus();
}

// Every rank adds up all parts for itself, in the order of the list. No part is
// overwritten before all have read it.
Status Endpoint::SumQueued(std::span<const Rank> ranks, Buffer& buffer,
                           Deadline deadline) {
  PP_ASSIGN_OR_RETURN(const device::Mark mine, queue_->Record());
  PP_ASSIGN_OR_RETURN(const auto parts,
                      Meet(ranks, buffer, mine, "sum", deadline));
  if (buffer.bytes == 0) return OkStatus();
  PP_ASSIGN_OR_RETURN(const Buffer sum, queue_->Allocate(buffer.bytes));
  for (const device::Mark& mark : parts->marks) {
    PP_RETURN_IF_ERROR(queue_->Follow(mark));
  }
  PP_RETURN_IF_ERROR(AddUpQueued(*parts, sum));
  PP_ASSIGN_OR_RETURN(const device::Mark read, queue_->Record());
  PP_ASSIGN_OR_RETURN(const auto all_read,
                      Meet(ranks, buffer, read, "sum", deadline));
  for (const device::Mark& mark : all_read->marks) {
    PP_RETURN_IF_ERROR(queue_->Follow(mark));
  }
  return queue_->driver().Copy(queue_->compute(), buffer.data, queue_->device(),
                               sum.data, queue_->device(), buffer.bytes);
}

Status Endpoint::AddUpQueued(const Round& round, const Buffer& into) {
  const auto as_floats = [](std::byte* data) {
    return reinterpret_cast<float*>(data);
  };
  device::Driver& driver = queue_->driver();
  Buffer local;
  for (size_t p = 0; p < round.parts.size(); ++p) {
    const uint32_t device = round.marks[p].device();
    const std::byte* data = round.parts[p].data;
    const bool copy = p == 0 || device != queue_->device();
    if (p > 0 && copy && local.empty()) {
      PP_ASSIGN_OR_RETURN(local, queue_->Allocate(into.bytes));
    }
    if (copy) {
      std::byte* const to = p == 0 ? into.data : local.data;
      PP_RETURN_IF_ERROR(driver.Copy(queue_->compute(), to, queue_->device(),
                                     data, device, into.bytes));
      data = to;
    }
    if (p == 0) continue;
    PP_RETURN_IF_ERROR(driver.Add(queue_->compute(), as_floats(into.data),
                                  reinterpret_cast<const float*>(data),
                                  into.bytes / sizeof(float)));
  }
  return OkStatus();
}

Status Endpoint::Barrier(Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  std::vector<Rank> all;
  for (uint32_t r = 0; r < ranks(); ++r) all.push_back(Rank(r));
  PP_ASSIGN_OR_RETURN(const auto round, Meet(all, {}, {}, "barrier", deadline));
  (void)round;
  return OkStatus();
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
