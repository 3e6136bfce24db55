// Sets of ranks and micro-batches as a person writes them: "0..3, 7".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"

namespace pp::check {

// `values` ascend. Three neighbours or more become a range; ends inclusive.
std::string Ranges(const std::vector<uint32_t>& values);

// "rank 2", "ranks 0..3".
std::string RankSet(const std::vector<uint32_t>& ranks);

// Micro-batches (ascending) of ranks (ascending).
using RankedSets = std::vector<std::pair<Rank, std::vector<uint32_t>>>;

// Ranks with the same set share an entry: "ranks 0..3: PHRASE m = 6..7; rank
// 5: m = 2". The phrase stands once. At most four entries, then how many
// ranks more.
std::string Join(const RankedSets& sets, const std::string& phrase);

}  // namespace pp::check
