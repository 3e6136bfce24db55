#include "tests/support/order_emulator.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace pp::testing {

using ir::OpKind;

OrderOutcome EmulateOrder(const ir::Schedule& schedule) {
  std::map<std::tuple<OpKind, uint32_t, uint32_t>, int> ran;
  const uint32_t last = schedule.placement.stages - 1;
  const auto can = [&](OpKind kind, uint32_t stage, uint32_t mb) {
    const auto has = [&](OpKind k, uint32_t s) {
      return ran.contains({k, s, mb});
    };
    switch (kind) {
      case OpKind::kF:
        return stage == 0 || has(OpKind::kF, stage - 1);
      case OpKind::kB:
      case OpKind::kI:
        return has(OpKind::kF, stage) &&
               (stage == last || has(OpKind::kB, stage + 1) ||
                has(OpKind::kI, stage + 1));
      case OpKind::kW:
        return has(OpKind::kI, stage);
    }
    return false;
  };
  std::vector<size_t> next(schedule.programs.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t r = 0; r < next.size(); ++r) {
      if (next[r] == schedule.programs[r].size()) continue;
      const ir::Op& op = schedule.programs[r][next[r]];
      const uint32_t stage = schedule.placement.stage[r][op.chunk];
      if (!can(op.kind, stage, op.mb)) continue;
      ++ran[{op.kind, stage, op.mb}];
      ++next[r];
      moved = true;
    }
  }
  OrderOutcome outcome;
  outcome.finished = true;
  for (size_t r = 0; r < next.size(); ++r) {
    if (next[r] < schedule.programs[r].size()) outcome.finished = false;
  }
  for (uint32_t s = 0; s <= last; ++s) {
    for (uint32_t m = 0; m < schedule.micro_batches; ++m) {
      const int f = ran[{OpKind::kF, s, m}], b = ran[{OpKind::kB, s, m}];
      const int i = ran[{OpKind::kI, s, m}], w = ran[{OpKind::kW, s, m}];
      const bool back =
          (b == 1 && i == 0 && w == 0) || (b == 0 && i == 1 && w == 1);
      if (f == 1 && back) continue;
      outcome.wrong.push_back(
          fmt::format("stage {}, m{}: F {} B {} I {} W {}", s, m, f, b, i, w));
    }
  }
  return outcome;
}

}  // namespace pp::testing
