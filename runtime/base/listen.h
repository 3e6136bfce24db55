// A listening socket on one address of this machine, and on no other.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace pp {

struct Listening {
  int socket = -1;  // whoever takes it over closes it
  uint16_t port = 0;
};

// `port` 0: any free one. kMachine naming the address, the port that is asked
// for and the cause.
Result<Listening> ListenOn(const std::string& address, uint16_t port);

// Of a socket that is bound.
uint16_t PortOf(int socket);

}  // namespace pp
