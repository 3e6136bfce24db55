// Ranks as threads of one process.
//
// A message is handed over, not copied: Wait of the receive gives the sender's
// own buffer. A send completes when its receive has been issued (rendezvous),
// so a program that leans on buffering hangs here as it would on a GPU. Keys
// are compared when the two sides meet. Waits spin for about a microsecond,
// then sleep, so that eight ranks work well on two cores.
#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/transport.h"

namespace pp::transport::inproc {

// One endpoint per rank. They may be destroyed in any order.
std::vector<std::unique_ptr<Transport>> Create(uint32_t ranks);

}  // namespace pp::transport::inproc
