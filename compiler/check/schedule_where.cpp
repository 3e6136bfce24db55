#include "compiler/check/schedule_where.h"

#include <fmt/format.h>

namespace pp::check {

diag::Location Where(const ir::Schedule& schedule, const ir::Op& op) {
  if (op.site < schedule.sites.size() && schedule.sites[op.site].span.valid()) {
    return schedule.sites[op.site].span;
  }
  return schedule.name_span;
}

std::string Name(const ir::Schedule& schedule, Rank rank, const ir::Op& op) {
  return fmt::format("`{}`", ir::Describe(schedule, rank, op));
}

std::string Phase(const ir::Schedule& schedule, const ir::Op& op) {
  if (op.site >= schedule.sites.size()) return {};
  const std::string& phase = schedule.sites[op.site].phase;
  if (phase.empty()) return {};
  return fmt::format(" in `{}[{}]`", phase, op.iteration);
}

}  // namespace pp::check
