#include "runtime/transport/inproc/channel.h"

#include <fmt/format.h>

#include "runtime/base/clock.h"

namespace pp::transport::inproc {
namespace {

std::string KeyText(const MessageKey& key) {
  return fmt::format("{} s{} m{}", bytecode::PayloadName(key.payload),
                     key.stage.value, key.mb.value);
}

// Why the two must not be paired, or OK. Without this check a different order
// at the two ends would swap tensors silently.
Status Compare(const Request& send, const Request& recv) {
  if (send.key != recv.key) {
    return RankError(fmt::format(
        "message {} from rank {} to rank {} on lane {} does not match: the "
        "sender sends `{}`, the receiver expects `{}`",
        send.number, send.self.value, recv.self.value, send.lane.value,
        KeyText(send.key), KeyText(recv.key)));
  }
  if (recv.expected_bytes != 0 && recv.expected_bytes != send.buffer.bytes) {
    return RankError(fmt::format(
        "`{}` from rank {} to rank {} has {} bytes, the receiver has room for "
        "{}",
        KeyText(send.key), send.self.value, recv.self.value, send.buffer.bytes,
        recv.expected_bytes));
  }
  return OkStatus();
}

void Match(Request& send, Request& recv) {
  Status status = Compare(send, recv);
  const int64_t now = NowNs();
  if (status.ok()) recv.buffer = std::move(send.buffer);
  send.buffer = Buffer{};
  send.peer_mark = recv.mark;
  recv.peer_mark = send.mark;
  for (Request* request : {&send, &recv}) {
    request->failure = status;
    request->matched_ns = now;
    request->done.store(true, std::memory_order_release);
  }
}

}  // namespace

std::string Describe(const Request& request) {
  return fmt::format("`{} {}` {} rank {} on lane {}",
                     request.is_send ? "send" : "recv", KeyText(request.key),
                     request.is_send ? "to" : "from", request.peer.value,
                     request.lane.value);
}

Request& RequestPool::Take() {
  if (free_.empty()) return all_.emplace_back();
  Request& request = *free_.back();
  free_.pop_back();
  request.buffer = Buffer{};
  request.target = nullptr;
  request.expected_bytes = 0;
  request.failure = OkStatus();
  request.mark = {};
  request.peer_mark = {};
  request.done.store(false, std::memory_order_relaxed);
  return request;
}

bool Channel::Post(Request& request) {
  std::lock_guard lock(mutex_);
  Lane& lane = lanes_[request.lane.value];
  request.number = request.is_send ? lane.sends++ : lane.recvs++;
  const bool other_waits =
      !lane.waiting.empty() && lane.waiting.front()->is_send != request.is_send;
  if (!other_waits) {
    lane.waiting.push_back(&request);
    return false;
  }
  Request& other = *lane.waiting.front();
  lane.waiting.pop_front();
  if (request.is_send) {
    Match(request, other);
  } else {
    Match(other, request);
  }
  return true;
}

}  // namespace pp::transport::inproc
