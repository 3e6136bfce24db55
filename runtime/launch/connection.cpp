#include "runtime/launch/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "runtime/base/listen.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kPiece = 1 << 20;  // memory grows by as much at most
constexpr uint32_t kMagic = 0x50503101;

struct Head {
  uint32_t magic = kMagic;
  uint32_t type = 0;
  uint64_t bytes = 0;
};

int MillisecondsUntil(Deadline deadline) {
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

// 1: ready, 0: the deadline passed, -1: an error (errno).
int Poll(int socket, short events, Deadline deadline) {
  for (;;) {
    pollfd item{socket, events, 0};
    const int ready = poll(&item, 1, MillisecondsUntil(deadline));
    if (ready >= 0 || errno != EINTR) return ready;
  }
}

Status Gone(const char* why) {
  return RankError(fmt::format("the connection is lost: {}", why));
}

std::string Numeric(const sockaddr_storage& address, socklen_t length) {
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host,
              sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressList> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    return Fail(MachineError(
        fmt::format("no host `{}`: {}", host, gai_strerror(code))));
  }
  return AddressList(found, freeaddrinfo);
}

// Reads exactly `count` bytes to the end of `to`. nullopt: the deadline passed.
// Once something has come the rest is waited for, however slow.
Result<bool> Read(int socket, Bytes& to, size_t count, Deadline deadline) {
  size_t left = count;
  while (left > 0) {
    const int ready = Poll(socket, POLLIN, deadline);
    if (ready == 0) return false;
    if (ready < 0) return Fail(Gone(std::strerror(errno)));
    const size_t piece = std::min(left, kPiece);
    const size_t begin = to.size();
    to.resize(begin + piece);
    const ssize_t got = recv(socket, to.data() + begin, piece, 0);
    to.resize(begin + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return Fail(Gone("it was closed"));
    if (got < 0 && errno != EINTR) return Fail(Gone(std::strerror(errno)));
    if (got > 0) left -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Connection::~Connection() { close(socket_); }

void Connection::Shut() { shutdown(socket_, SHUT_RDWR); }

Status Connection::Send(FrameType type, const Bytes& bytes, Deadline deadline) {
  std::lock_guard lock(send_mutex_);
  Head head;
  head.type = static_cast<uint32_t>(type);
  head.bytes = bytes.size();
  Bytes all(sizeof head);
  std::memcpy(all.data(), &head, sizeof head);
  all.insert(all.end(), bytes.begin(), bytes.end());
  size_t sent = 0;
  while (sent < all.size()) {
    const ssize_t put = send(socket_, all.data() + sent, all.size() - sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      sent += static_cast<size_t>(put);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Gone(std::strerror(errno));
    const int ready = Poll(socket_, POLLOUT, deadline);
    if (ready == 0) return Gone("the other side takes nothing");
    if (ready < 0) return Gone(std::strerror(errno));
  }
  return OkStatus();
}

Result<std::optional<Frame>> Connection::Receive(Deadline deadline) {
  const int ready = Poll(socket_, POLLIN, deadline);
  if (ready == 0) return std::nullopt;
  if (ready < 0) return Fail(Gone(std::strerror(errno)));
  // A frame that has begun comes soon or never.
  constexpr auto kSoon = std::chrono::seconds(30);
  const Deadline end = std::max(deadline, steady_clock::now() + kSoon);
  Bytes raw;
  PP_ASSIGN_OR_RETURN(const bool head_came,
                      Read(socket_, raw, sizeof(Head), end));
  Head head;
  if (head_came) std::memcpy(&head, raw.data(), sizeof head);
  if (!head_came || head.magic != kMagic ||
      head.type >= static_cast<uint32_t>(FrameType::kCount)) {
    return Fail(RankError("what comes is no message of pprun"));
  }
  if (head.bytes > limit_) {
    return Fail(RankError(
        fmt::format("a message of {} bytes, more than the {} that may come",
                    head.bytes, limit_)));
  }
  Frame frame{static_cast<FrameType>(head.type), {}};
  PP_ASSIGN_OR_RETURN(const bool all_came,
                      Read(socket_, frame.bytes, head.bytes, end));
  if (!all_came) return Fail(Gone("a message stopped in its middle"));
  return frame;
}

std::string Connection::LocalAddress() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
  return Numeric(address, length);
}

std::string Connection::PeerAddress() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &length);
  return Numeric(address, length);
}

// ---- Listener ----

Listener::Listener(Listener&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)) {}

Listener::~Listener() {
  if (socket_ >= 0) close(socket_);
}

Result<Listener> Listener::On(const std::string& host, uint16_t port) {
  const auto listening = ListenOn(host, port);
  if (!listening) {
    return Fail(MachineError(
        fmt::format("rank 0 {}{}", listening.error().message(),
                    port != 0 ? "; choose another with MASTER_PORT" : "")));
  }
  return Listener(listening->socket);
}

uint16_t Listener::port() const { return PortOf(socket_); }

std::unique_ptr<Connection> Listener::Accept(Deadline deadline) {
  if (Poll(socket_, POLLIN, deadline) <= 0) return nullptr;
  const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return nullptr;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return std::make_unique<Connection>(fd);
}

Result<std::unique_ptr<Connection>> Connect(const std::string& host,
                                            uint16_t port, Deadline deadline) {
  std::string why = "no time was left";
  while (steady_clock::now() < deadline) {
    // Names may come to be known late, too.
    auto found = Resolve(host, port);
    if (!found) return Fail(found.error());
    const int fd = ::socket((*found)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (*found)->ai_addr, (*found)->ai_addrlen) == 0) {
      const int yes = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return std::make_unique<Connection>(fd);
    }
    why = std::strerror(errno);
    if (fd >= 0) close(fd);
    std::this_thread::sleep_for(milliseconds(50));
  }
  return Fail(RankError(
      fmt::format("rank 0 is not reached at {} port {}: {}", host, port, why)));
}

}  // namespace pp::launch
