// The order in which a rank's cursor meets its (chunk, micro-batch) pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/expand/fault_log.h"
#include "compiler/expand/instance.h"
#include "compiler/sema/program.h"

namespace pp::expand {

struct WalkStep {
  uint16_t chunk = 0;
  uint32_t mb = 0;
};

struct WalkOrder {
  std::vector<WalkStep> places;            // the whole walk
  std::vector<std::vector<uint32_t>> mbs;  // by chunk: its micro-batches
  std::vector<uint32_t> index;  // by place: how many of its chunk come before
};

// Sorts all pairs of `rank`, which holds `chunks`, by the key. False with a
// fault in `log`: a key that faults, or two pairs with the same key.
bool SortWalk(const sema::Walk& walk, Instance& instance, uint32_t rank,
              uint32_t chunks, const std::string& name, WalkOrder& order,
              FaultLog& log);

}  // namespace pp::expand
