// One interval on one rank of a run: what the recorder keeps and the Chrome
// trace, the summary and the report are made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/ids.h"

namespace pp::trace {

enum class EventKind : uint8_t {
  kCompute,   // the engine works
  kWait,      // the rank waits for a message that is not there
  kTransfer,  // from issue to completion, on a lane's track
  kMeta,      // scale, reduce, update
};

struct Event {
  EventKind kind;
  uint32_t step;
  uint32_t pc;
  uint32_t lane;     // kTransfer only
  int64_t begin_ns;  // steady clock, one origin for all ranks of a process
  int64_t end_ns;
};

using RankTrace = std::vector<Event>;

}  // namespace pp::trace
