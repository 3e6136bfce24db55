#include "compiler/ir/schedule.h"

#include <fmt/format.h>

namespace pp::ir {

std::string Describe(const Schedule& schedule, Rank rank, const Op& op) {
  const auto& chunks = schedule.placement.stage[rank.value];
  std::string name(kOpNames[static_cast<size_t>(op.kind)]);
  if (chunks.size() > 1) name += fmt::format("[{}]", op.chunk);
  name += fmt::format("@{}", op.mb);
  if (op.chunk < chunks.size()) {
    name += fmt::format(" (stage {})", chunks[op.chunk]);
  }
  return name;
}

}  // namespace pp::ir
