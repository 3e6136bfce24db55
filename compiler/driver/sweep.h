// `ppc check --for P=2..8,M=1..32`: every point of a grid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/session.h"
#include "llvm/ADT/StringRef.h"

namespace pp::driver {

struct SweepRange {
  std::string name;
  int64_t first = 0;
  int64_t last = 0;  // included
};

// kUsage with the part that is not NAME=A..B or NAME=A, a range that runs
// backwards, a name given twice, or a grid of over ten million points.
Result<std::vector<SweepRange>> ParseSweep(const std::string& text);

// "2..8" or "4", both ends; nullopt: neither.
std::optional<std::pair<int64_t, int64_t>> ParseBounds(llvm::StringRef text);

struct SweepCounts {
  uint64_t points = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;  // by a `require`
  uint64_t expectations = 0;
  uint64_t operations = 0;
};

// Points in the order of the ranges, the last one fastest. Stops at the first
// point (in that order) that fails and leaves its diagnostics in the session.
Result<SweepCounts> Sweep(Session& session,
                          const sema::CheckedSchedule& checked,
                          const std::vector<SweepRange>& ranges,
                          const Models& models);

}  // namespace pp::driver
