// Transport: moves Buffers between ranks. One object per rank, used by that
// rank's thread only (Abort: by any thread).
//
// Order and matching: on one (source, destination, lane), the n-th Send meets
// the n-th Recv. The message key is carried along and compared where the
// transport can (a mismatch is an error that names both); it never changes
// what matches. A Send may not complete before its Recv is issued
// (rendezvous): nothing may depend on buffering. A lane may be a queue: what is
// issued on it starts after what was issued before, unless they are a group.
// Ownership: the Buffer given to Send stays valid and unchanged until Wait;
// the Buffer given to Recv is written until Wait, which may *replace* it by
// the sender's buffer where both ranks share memory (zero copy).
// After an error every further call returns the first error.
//
// On a GPU (Attach) transfers are queued like all other work, and "until it has
// completed" is meant in that order: what the rank queues after Wait runs after
// the transfer. Wait keeps the host only until the peer has issued its side, at
// most.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/instr.h"
#include "runtime/device/queue.h"

namespace pp::transport {

struct MessageKey {
  bytecode::Payload payload{};
  StageId stage;
  MicroBatch mb;
  friend bool operator==(const MessageKey&, const MessageKey&) = default;
};

using RequestId = uint64_t;
using Deadline = std::chrono::steady_clock::time_point;

struct TransportTraits {
  std::string name;  // "inproc", "gloo", "nccl", "emulated"
  // Wait always replaces a receive buffer: it may be given empty.
  bool zero_copy = false;
};

// When the bytes of a transfer moved, on the steady clock. `started_ns` is when
// both sides had come: the time before is waiting, not transfer.
struct TransferTimes {
  int64_t started_ns = 0;
  int64_t ended_ns = 0;
};

// The same where both sides only queue work: it started when all of `started`
// had been passed and ended with `ended` (empty: at once).
struct TransferMarks {
  std::vector<device::Mark> started;
  device::Mark ended;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // This rank's work is queued there. Once, before all other calls but Abort,
  // on every rank or none. kUsage where the transport carries no GPU memory.
  virtual Status Attach(std::shared_ptr<device::Queue> queue,
                        Deadline deadline) {
    (void)queue, (void)deadline;
    return UsageError("--transport " + traits().name +
                      " carries no GPU memory: use inproc or nccl");
  }

  virtual TransportTraits traits() const = 0;
  virtual Rank rank() const = 0;
  virtual uint32_t ranks() const = 0;

  // Issue. Returns at once.
  virtual Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                                 const Buffer& buffer) = 0;
  virtual Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                                 Buffer* buffer) = 0;
  // Until the request has completed, the deadline passed (kRankFailed), or
  // somebody called Abort (kAborted, with the first cause).
  virtual Status Wait(RequestId request, Deadline deadline) = 0;
  // Of the request that the last successful Wait completed; empty where the
  // transport cannot see when the peer came.
  virtual std::optional<TransferTimes> LastTransfer() const { return {}; }
  virtual TransferMarks LastTransferMarks() const { return {}; }
  // The first error, kAborted included, without waiting: for one who waits for
  // the device.
  virtual Status Check() { return OkStatus(); }

  // SENDs and RECVs between them start together or not at all.
  virtual Status GroupBegin() = 0;
  virtual Status GroupEnd() = 0;

  // Sum element-wise in float32 over `ranks` (this rank is one of them), in
  // the order listed, so that the result is the same bits on every rank.
  virtual Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline deadline) = 0;
  virtual Status Barrier(Deadline deadline) = 0;

  // The rank has ended its step: until its next call it issues nothing, so that
  // whoever waits for it waits in vain. For transports that can tell.
  virtual void Rest() {}

  // Ends all waits of all ranks that can be reached, with this cause. The
  // first call wins.
  virtual void Abort(const Status& cause) = 0;
};

}  // namespace pp::transport
