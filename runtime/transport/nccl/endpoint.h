// The transport of one rank. Internal to this folder and its tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/transport/nccl/communicator.h"

namespace pp::transport::nccl {

class Endpoint final : public Transport {
 public:
  Endpoint(std::shared_ptr<Api> api, Plan plan, Rank rank, uint32_t ranks,
           std::string id, std::shared_ptr<Fate> fate);

  TransportTraits traits() const override { return {"nccl", false}; }
  Rank rank() const override { return rank_; }
  uint32_t ranks() const override { return ranks_; }

  Status Attach(std::shared_ptr<device::Queue> queue,
                Deadline deadline) override;
  Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                         const Buffer& buffer) override;
  Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                         Buffer* buffer) override;
  Status Wait(RequestId request, Deadline deadline) override;
  TransferMarks LastTransferMarks() const override { return last_marks_; }
  Status Check() override;
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                      Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Abort(const Status& cause) override;

 private:
  struct Transfer {
    bool is_send = false;
    const Communicator* on = nullptr;
    Rank peer;
    std::byte* data = nullptr;
    size_t bytes = 0;
    device::Mark begin, end;
    bool issued = false;
    bool free = false;
  };

  Status Usable();
  Status Keep(Status status);
  Result<RequestId> Add(bool is_send, Rank peer, LaneId lane, std::byte* data,
                        size_t bytes);
  // Issues transfers, as one group where there are several.
  Status Issue(std::span<Transfer* const> transfers);
  Status IssueAll(std::span<Transfer* const> transfers);
  Status IssueOne(const Transfer& transfer);
  Status Sum(std::span<const Rank> ranks, const Buffer& buffer);
  Status Signal(uint32_t distance, const Buffer& token);

  const std::shared_ptr<Api> api_;
  const Rank rank_;
  const uint32_t ranks_;
  const std::string id_;
  const std::shared_ptr<Fate> fate_;
  Communicators comms_;
  std::shared_ptr<device::Queue> queue_;
  std::thread::id owner_;  // of the rank
  Status failed_;
  std::vector<std::unique_ptr<Transfer>> transfers_;  // by RequestId
  std::vector<RequestId> free_;
  bool in_group_ = false;
  std::vector<Transfer*> group_;  // held back until GroupEnd
  TransferMarks last_marks_;
};

}  // namespace pp::transport::nccl
