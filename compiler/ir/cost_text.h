// Costs and sizes as text: `--cost F=1,B=2`, `cost { F = 1.0ms ... }`,
// `mem { act = 1GiB ... }` and the values of a costs file are one notation.
//
//   pair=2.5                     of a forward and a backward at once
//   F=1, F=1.5ms, F.3=2ms        cost of an operation; of one on stage 3
//   comm=0.1ms + 3us/MiB         latency, and time by size of the message
//   comm.0.1=0.2ms               of transfers from rank 0 to rank 1
//   message=4MiB                 size of one activation or gradient sent
//   act=1GiB, act.after_I=0.5GiB, weights, gradients, optimizer, limit
//   act.3=2GiB                   of stage 3
//
// Decimal numbers with up to six digits after the point. Times in s, ms, us or
// ns, all of them or none; sizes in B, KiB, MiB, GiB, TiB, KB, MB, GB, TB.
// What is not named keeps its default, B = I + W unless given; in units of time
// there is no default but that one. Entries stand apart by `,` or blanks.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/memory_model.h"

namespace pp::ir {

struct TextFault {
  size_t at = 0;  // offset into the text
  std::string what;
};

tl::expected<CostModel, TextFault> ReadCosts(std::string_view text);
tl::expected<MemoryModel, TextFault> ReadMemory(std::string_view text);

// The same for a command line: kUsage with the text and the character.
Result<CostModel> ParseCosts(std::string_view text);
Result<MemoryModel> ParseMemory(std::string_view text);

}  // namespace pp::ir
