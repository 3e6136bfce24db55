// One TCP connection of the launcher's: frames of a type and some bytes.
//
// Bytes from the wire are believed only within bounds: a frame's length is
// limited, and memory grows with what has come, not with what is announced.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace pp::launch {

using Deadline = std::chrono::steady_clock::time_point;
using Bytes = std::vector<uint8_t>;

enum class FrameType : uint32_t {
  kHello,    // to rank 0: who comes, with what
  kClock,    // both ways: what is the time
  kWelcome,  // from rank 0: all have come; the transport's meeting place
  kRefuse,   // from rank 0: why there will be no run
  kPlace,    // to rank 0: where I am; sent now and then
  kStep,     // to rank 0: my part of a step is done
  kEnd,      // to rank 0: my run has ended, how, and its trace
  kRelease,  // from rank 0: go on with the next step
  kAbort,    // from rank 0: the run has failed, why
  kCount,
};

struct Frame {
  FrameType type{};
  Bytes bytes;
};

class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Of any thread. kRankFailed: the other side is gone, or takes nothing for
  // longer than the deadline.
  Status Send(FrameType type, const Bytes& bytes, Deadline deadline);

  // The next frame; nullopt at the deadline with no byte of one. kRankFailed:
  // the other side is gone or sends what is no frame. One thread at a time.
  Result<std::optional<Frame>> Receive(Deadline deadline);
  // Limits the length of frames, in bytes; small until the other side is known.
  void SetLimit(size_t bytes) { limit_ = bytes; }

  // Makes Receive and Send fail from now on. Of any thread.
  void Shut();

  std::string LocalAddress() const;  // numeric, as the other side reaches it
  std::string PeerAddress() const;   // numeric

 private:
  const int socket_;
  std::mutex send_mutex_;
  size_t limit_ = 64 * 1024;
};

// Listens on one address. kMachine naming address, port and cause.
class Listener {
 public:
  // Port 0: any free one.
  static Result<Listener> On(const std::string& host, uint16_t port);
  // Takes over a socket that listens already.
  explicit Listener(int socket) : socket_(socket) {}
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  uint16_t port() const;
  int socket() const { return socket_; }
  // The next connection; nullptr at the deadline.
  std::unique_ptr<Connection> Accept(Deadline deadline);

 private:
  int socket_;
};

// Tries again until the deadline: rank 0 may come later. kRankFailed.
Result<std::unique_ptr<Connection>> Connect(const std::string& host,
                                            uint16_t port, Deadline deadline);

}  // namespace pp::launch
