// Costs measured in a run, so that a simulation can predict it: how long each
// stage's operations take, and how long a result needs from rank to rank.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"
#include "runtime/trace/event.h"

namespace pp::trace {

// Of many times one: the mean of their middle half, which a few outliers do
// not move and which adds up along a path as the times themselves do.
struct Measured {
  int64_t ns = 0;
  double spread = 0;  // third less first quartile, over the median
  size_t samples = 0;
};

// No samples: all zero.
Measured Summarize(std::vector<int64_t> times_ns);

struct Profile {
  // By letter (F, B, I, W) and stage.
  std::map<std::pair<char, uint32_t>, Measured> ops;
  // By (from, to) rank: from the end of the operation that made a tensor to
  // the begin of the one that waited for it. It has everything between in it:
  // issue, transfer, waking up.
  std::map<std::pair<uint32_t, uint32_t>, Measured> hops;
  Measured makespan;  // of the steps
  size_t steps = 0;   // without those that warm up
};

// Without the first `warmup` steps, as long as one is left.
Profile MeasureCosts(const bytecode::Module& module,
                     std::span<const RankTrace> traces, uint64_t warmup = 1);

// As a costs file of `ppc simulate --cost`. `about` goes into its `from`, as
// pairs of key and value.
std::string ProfileJson(
    const bytecode::Module& module, const Profile& profile,
    const std::vector<std::pair<std::string, std::string>>& about);

}  // namespace pp::trace
