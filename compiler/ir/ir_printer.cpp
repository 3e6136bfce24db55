#include "compiler/ir/ir_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pp::ir {

std::string Print(const Schedule& schedule) {
  const auto& placed = schedule.placement.stage;
  bool chunked = std::any_of(placed.begin(), placed.end(),
                             [](const auto& own) { return own.size() > 1; });
  std::string text;
  auto out = std::back_inserter(text);
  for (size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    fmt::format_to(out, "r{}:", rank);
    const auto& program = schedule.programs[rank];
    for (size_t i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      const bool joined =
          schedule.EndsPair(Rank(static_cast<uint32_t>(rank)), i);
      fmt::format_to(out, "{}{}", joined ? "&" : " ",
                     kOpNames[static_cast<size_t>(op.kind)]);
      if (chunked) fmt::format_to(out, "[{}]", op.chunk);
      fmt::format_to(out, "@{}", op.mb);
    }
    text += '\n';
  }
  return text;
}

}  // namespace pp::ir
