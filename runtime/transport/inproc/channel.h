// Where the sends and receives of one pair of ranks meet: the n-th send of a
// lane with the n-th receive of that lane.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/transport/transport.h"

namespace pp::transport::inproc {

// One send or receive. Written by its own rank until posted, then by whoever
// matches it (under the channel's lock), read again by its own rank once
// `done` is true, after which nobody else touches it.
struct Request {
  bool is_send = false;
  Rank self;
  Rank peer;
  LaneId lane;
  MessageKey key;
  Buffer buffer;              // send: what leaves; receive: what has arrived
  size_t expected_bytes = 0;  // receive into a sized buffer: its size, else 0
  Buffer* target = nullptr;   // receive: written by its own rank, in Wait
  uint64_t number = 0;        // of its lane, from 0
  Status failure;
  int64_t matched_ns = 0;
  device::Mark mark;       // on a GPU: what its rank had queued before it
  device::Mark peer_mark;  // and the peer before its side
  std::atomic<bool> done{false};
};

// The requests of one rank: memory that is used again, as a message should cost
// no allocation. Requests keep their place for as long as the pool lives.
class RequestPool {
 public:
  Request& Take();
  void Put(Request& request) { free_.push_back(&request); }

 private:
  std::deque<Request> all_;
  std::vector<Request*> free_;
};

// "`recv act s0 m3` from rank 0 on lane 0".
std::string Describe(const Request& request);

// All lanes from one rank to another.
class Channel {
 public:
  // True when the request met its counterpart, which is then done as well:
  // the caller wakes the peer. Thread-safe.
  bool Post(Request& request);

 private:
  struct Lane {
    std::deque<Request*> waiting;  // all sends or all receives
    uint64_t sends = 0;
    uint64_t recvs = 0;
  };

  std::mutex mutex_;
  std::map<uint32_t, Lane> lanes_;
};

}  // namespace pp::transport::inproc
