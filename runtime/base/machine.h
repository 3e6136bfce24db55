// What a measurement was made on, to be written beside its numbers.
#pragma once

#include <cstdint>
#include <string>

namespace pp {

struct Machine {
  std::string cpu;     // model name, or "unknown"
  uint32_t cores = 0;  // that this process may use
  uint64_t memory_bytes = 0;
  std::string system;  // "Linux 6.1.0"
};

Machine ThisMachine();

// "Intel(R) Xeon(R) ..., 2 cores, 7.7 GiB, Linux 6.1.0"
std::string Describe(const Machine& machine);

}  // namespace pp
