// A listening socket on one address. LibTorch's store would listen on all of
// the machine's; it takes over a socket that is bound already.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace pp::transport::gloo {

struct Listening {
  int socket = -1;  // whoever takes it over closes it
  uint16_t port = 0;
};

// Any free port. kMachine naming the address and the cause.
Result<Listening> ListenOn(const std::string& address);

}  // namespace pp::transport::gloo
