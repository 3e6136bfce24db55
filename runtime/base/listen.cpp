#include "runtime/base/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace pp {
namespace {

Status CannotListen(const std::string& address, uint16_t port,
                    const char* why) {
  const std::string at = port == 0 ? "" : fmt::format(" port {}", port);
  return MachineError(
      fmt::format("cannot listen on {}{}: {}", address, at, why));
}

}  // namespace

uint16_t PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length);
  return bound.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port)
             : ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

Result<Listening> ListenOn(const std::string& address, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  if (const int code = getaddrinfo(
          address.c_str(), std::to_string(port).c_str(), &hints, &raw)) {
    return Fail(CannotListen(address, port, gai_strerror(code)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(raw,
                                                                 freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  // A port of a run that has just ended can be taken at once.
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return Fail(CannotListen(address, port, std::strerror(error)));
  }
  return Listening{fd, PortOf(fd)};
}

}  // namespace pp
