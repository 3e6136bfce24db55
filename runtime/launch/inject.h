// Faults on purpose, so that what happens when a rank fails can be tested on
// real runs: `--inject RANK:PC:KIND[:STEP]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/vm/vm.h"

namespace pp::launch {

enum class FaultKind : uint8_t {
  kError,  // the instruction fails
  kExit,   // the process ends with status 0, as if all were well
  kKill,   // the process kills itself (SIGKILL)
  kStop,   // the process stops itself (SIGSTOP)
  kHang,   // the rank does nothing any more
};

struct Injection {
  Rank rank;
  uint32_t pc = 0;
  FaultKind kind{};
  uint64_t step = 0;
};

// kUsage with what is wrong.
Result<Injection> ParseInjection(const std::string& text);

// For the machine of `rank`: no fault unless it is meant.
vm::Fault FaultOf(const std::optional<Injection>& injection, Rank rank);

}  // namespace pp::launch
