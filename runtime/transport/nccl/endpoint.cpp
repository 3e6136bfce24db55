#include "runtime/transport/nccl/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/transport/requests.h"

namespace pp::transport::nccl {
namespace {

// Of one call that only starts something. Connections are there: a longer wait
// is for a peer that is gone.
constexpr std::chrono::seconds kIssueLimit{60};

Deadline Soon() { return std::chrono::steady_clock::now() + kIssueLimit; }

}  // namespace

Endpoint::Endpoint(std::shared_ptr<Api> api, Plan plan, Rank rank,
                   uint32_t ranks, std::string id, std::shared_ptr<Fate> fate)
    : api_(std::move(api)),
      rank_(rank),
      ranks_(ranks),
      id_(std::move(id)),
      fate_(std::move(fate)),
      comms_(api_, std::move(plan), rank, ranks, fate_) {}

Status Endpoint::Usable() {
  if (failed_.ok() && queue_ == nullptr) {
    failed_ = UsageError("--transport nccl needs --device cuda");
  }
  return Keep(fate_->Check());
}

// With the first error the rank's communicators end.
Status Endpoint::Keep(Status status) {
  if (failed_.ok() && !status.ok()) {
    failed_ = std::move(status);
    comms_.AbortAll();
  }
  return failed_;
}

void Endpoint::Abort(const Status& cause) {
  fate_->Abort(cause);
  if (std::this_thread::get_id() == owner_) (void)Usable();
}

Status Endpoint::Attach(std::shared_ptr<device::Queue> queue,
                        Deadline deadline) {
  queue_ = std::move(queue);
  owner_ = std::this_thread::get_id();
  PP_RETURN_IF_ERROR(Usable());
  return Keep(comms_.Open(id_, queue_, deadline).WithContext("nccl"));
}

// ---- Transfers ----

Result<RequestId> Endpoint::Send(Rank peer, LaneId lane, const MessageKey&,
                                 const Buffer& buffer) {
  return Add(true, peer, lane, buffer.data, buffer.bytes);
}

Result<RequestId> Endpoint::Recv(Rank peer, LaneId lane, const MessageKey&,
                                 Buffer* buffer) {
  return Add(false, peer, lane, buffer->data, buffer->bytes);
}

Result<RequestId> Endpoint::Add(bool is_send, Rank peer, LaneId lane,
                                std::byte* data, size_t bytes) {
  PP_RETURN_IF_ERROR(Usable());
  const Communicator* on = comms_.Lane(lane);
  if (peer.value >= ranks_ || peer == rank_ || on == nullptr ||
      !on->plan->Has(peer)) {
    return Fail(Keep(RankError(fmt::format(
        "rank {} of {} cannot exchange messages with rank {} on lane {}",
        rank_.value, ranks_, peer.value, lane.value))));
  }
  RequestId id = transfers_.size();
  if (free_.empty()) {
    transfers_.push_back(std::make_unique<Transfer>());
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Transfer& transfer = *transfers_[id];
  transfer = Transfer{is_send, on, peer, data, bytes, {}, {}, false, false};
  if (in_group_) {
    group_.push_back(&transfer);
    return id;
  }
  Transfer* const one = &transfer;
  PP_RETURN_IF_ERROR(Issue({&one, 1}));
  return id;
}

Status Endpoint::IssueOne(const Transfer& transfer) {
  void* const stream = queue_->driver().Native(transfer.on->stream);
  const uint32_t peer = transfer.on->NumberOf(transfer.peer);
  return transfer.is_send ? api_->Send(transfer.on->comm, transfer.data,
                                       transfer.bytes, peer, stream)
                          : api_->Recv(transfer.on->comm, transfer.data,
                                       transfer.bytes, peer, stream);
}

// The lane's stream comes after what the rank has queued so far: what is sent
// has been made, what is received into is free. Marks around the transfer are
// its times.
Status Endpoint::IssueAll(std::span<Transfer* const> transfers) {
  PP_ASSIGN_OR_RETURN(const device::Mark ready, queue_->Record());
  for (Transfer* transfer : transfers) {
    PP_RETURN_IF_ERROR(queue_->Follow(transfer->on->stream, ready));
    PP_ASSIGN_OR_RETURN(transfer->begin, queue_->Record(transfer->on->stream));
  }
  const bool group = transfers.size() > 1;
  if (group) PP_RETURN_IF_ERROR(api_->GroupBegin());
  Status status;
  for (Transfer* transfer : transfers) {
    if (status.ok()) status = IssueOne(*transfer);
  }
  // Also after an error: a group that stays open takes all later calls.
  if (group) {
    Status ended = api_->GroupEnd();
    if (status.ok()) status = std::move(ended);
  }
  PP_RETURN_IF_ERROR(status);
  // Only what has been launched is what an event comes after.
  for (Transfer* transfer : transfers) {
    PP_RETURN_IF_ERROR(comms_.Settle(*transfer->on, Soon()));
  }
  for (Transfer* transfer : transfers) {
    PP_ASSIGN_OR_RETURN(transfer->end, queue_->Record(transfer->on->stream));
    transfer->issued = true;
  }
  return OkStatus();
}

Status Endpoint::Issue(std::span<Transfer* const> transfers) {
  return transfers.empty() ? OkStatus() : Keep(IssueAll(transfers));
}

Status Endpoint::Wait(RequestId id, Deadline) {
  PP_RETURN_IF_ERROR(Usable());
  if (id >= transfers_.size() || transfers_[id]->free) {
    return Keep(RankError(fmt::format("no request {} is in flight", id)));
  }
  Transfer& transfer = *transfers_[id];
  if (!transfer.issued) {
    return Keep(RankError("wait for a transfer inside its group"));
  }
  last_marks_ = {{transfer.begin}, transfer.end};
  const Status followed = queue_->Follow(transfer.end);
  transfer = Transfer{};
  transfer.free = true;
  free_.push_back(id);
  return Keep(followed);
}

Status Endpoint::Check() {
  PP_RETURN_IF_ERROR(Usable());
  return Keep(comms_.Check());
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
  const std::vector<Transfer*> group = std::move(group_);
  group_.clear();
  return Issue(group);
}

// ---- All together ----

Status Endpoint::AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline) {
  PP_RETURN_IF_ERROR(Usable());
  const Communicator* on = comms_.sums();
  const auto known = [&](Rank rank) {
    return ranks.size() == 1 || (on != nullptr && on->plan->Has(rank));
  };
  if (!MaySum(ranks, rank_, known)) {
    return Keep(RankError(fmt::format(
        "a sum must list distinct ranks of a group of the program, rank {} "
        "among them",
        rank_.value)));
  }
  if (ranks.size() == 1 || buffer.bytes == 0) return OkStatus();
  return Keep(Sum(ranks, buffer));
}

// ncclAllReduce takes sums in an order of its own. Here every rank gets all
// parts and adds them up in the order of the list: the same bits everywhere.
Status Endpoint::Sum(std::span<const Rank> ranks, const Buffer& buffer) {
  std::vector<Transfer> exchange;
  std::vector<Buffer> parts(ranks.size());
  for (size_t p = 0; p < ranks.size(); ++p) {
    if (ranks[p] == rank_) continue;
    PP_ASSIGN_OR_RETURN(parts[p], queue_->Allocate(buffer.bytes));
    for (const bool is_send : {true, false}) {
      exchange.push_back(Transfer{is_send,
                                  comms_.sums(),
                                  ranks[p],
                                  is_send ? buffer.data : parts[p].data,
                                  buffer.bytes,
                                  {},
                                  {},
                                  false,
                                  false});
    }
  }
  std::vector<Transfer*> pointers;
  for (Transfer& transfer : exchange) pointers.push_back(&transfer);
  PP_RETURN_IF_ERROR(IssueAll(pointers));
  PP_RETURN_IF_ERROR(queue_->Follow(exchange.back().end));
  device::Driver& driver = queue_->driver();
  const uint32_t gpu = queue_->device();
  PP_ASSIGN_OR_RETURN(const Buffer sum, queue_->Allocate(buffer.bytes));
  for (size_t p = 0; p < ranks.size(); ++p) {
    const std::byte* part = ranks[p] == rank_ ? buffer.data : parts[p].data;
    PP_RETURN_IF_ERROR(p == 0 ? driver.Copy(queue_->compute(), sum.data, gpu,
                                            part, gpu, buffer.bytes)
                              : driver.Add(queue_->compute(),
                                           reinterpret_cast<float*>(sum.data),
                                           reinterpret_cast<const float*>(part),
                                           buffer.bytes / sizeof(float)));
  }
  return driver.Copy(queue_->compute(), buffer.data, gpu, sum.data, gpu,
                     buffer.bytes);
}

// By dissemination: after round k a rank has heard of the 2^k before it.
Status Endpoint::Barrier(Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  auto token = queue_->Allocate(8);
  if (!token) return Keep(token.error());
  for (uint32_t distance = 1; distance < ranks_; distance *= 2) {
    PP_RETURN_IF_ERROR(Keep(Signal(distance, *token)));
  }
  auto done = queue_->Record();
  if (!done) return Keep(done.error());
  while (true) {
    const auto passed =
        queue_->driver().WaitFor(done->event(), std::chrono::milliseconds(1));
    if (!passed) return Keep(passed.error());
    if (*passed) return OkStatus();
    PP_RETURN_IF_ERROR(Check());
    if (std::chrono::steady_clock::now() > deadline) {
      return Keep(RankError("waited for the other ranks of a barrier"));
    }
  }
}

Status Endpoint::Signal(uint32_t distance, const Buffer& token) {
  const Rank next((rank_.value + distance) % ranks_);
  const Rank previous((rank_.value + ranks_ - distance) % ranks_);
  Transfer send{true, &comms_.all(), next, token.data, 4, {}, {}, false, false};
  Transfer recv{false, &comms_.all(), previous, token.data + 4, 4, {},
                {},    false,         false};
  Transfer* const both[] = {&send, &recv};
  PP_RETURN_IF_ERROR(IssueAll(both));
  return queue_->Follow(recv.end);
}

}  // namespace pp::transport::nccl
