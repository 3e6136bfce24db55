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

uint64_t CountOperations(const Schedule& schedule) {
  uint64_t operations = 0;
  for (const auto& program : schedule.programs) operations += program.size();
  return operations;
}

}  // namespace pp::ir
