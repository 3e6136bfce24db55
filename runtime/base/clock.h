// The one clock of a machine's measurements and deadlines.
#pragma once

#include <chrono>
#include <cstdint>

namespace pp {

// Steady, in nanoseconds from an origin that differs between machines.
inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace pp
