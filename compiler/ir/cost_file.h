// Costs and sizes as a JSON file, as `pprun --profile` writes it:
//
//   {"cost": {"F": "1.2ms", "B": "2.5ms", "F.3": "1.9ms",
//             "comm": "40us + 3us/MiB", "message": "4MiB"},
//    "mem": {"act": "1GiB", "limit": "70GiB"},
//    "from": {...}}                 whatever says where the figures come from
//
// Keys and values are those of cost_text.h; every value is a text with its
// unit. Each part may be left out, but not both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/memory_model.h"

namespace pp::ir {

struct CostFile {
  std::optional<CostModel> costs;
  std::optional<MemoryModel> memory;
};

// kInput with the name, the place (line and column of broken JSON, else the
// part and its key) and the cause.
Result<CostFile> ParseCostFile(std::string_view json, const std::string& name);

}  // namespace pp::ir
