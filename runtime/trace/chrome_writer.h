// Chrome trace JSON (opens in Perfetto and chrome://tracing): one process a
// rank, one track for compute and one a lane.
//
// Simulated and measured traces are made by the same function, so that they
// have the same keys and can be laid over each other.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/trace/event.h"

namespace pp::trace {

// One span of the picture.
struct ChromeSpan {
  uint32_t rank = 0;
  uint32_t track = 0;    // 0: compute; 1 + lane: transfers of that lane
  std::string name;      // "F s0 m3"
  std::string category;  // "compute", "wait", "transfer", "meta"
  double begin_us = 0;
  double duration_us = 0;
  uint32_t step = 0;
  std::string instruction;  // as the dump prints it; may be empty
  std::string site;         // "FILE:LINE:COL phase[i]"; may be empty
};

struct ChromeHead {
  uint32_t ranks = 0;
  uint32_t lanes = 0;
  std::string title;                                        // schedule
  std::vector<std::pair<std::string, std::string>> extras;  // "otherData"
};

// The whole file. Spans may come in any order; the output is in order of
// rank, track and time.
std::string ChromeTrace(const ChromeHead& head, std::vector<ChromeSpan> spans);

// A measured run. Time 0 is the first event of all.
std::string ChromeTrace(const bytecode::Module& module,
                        std::span<const RankTrace> traces);

}  // namespace pp::trace
