#include "tests/support/order_emulator.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>
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
      if (schedule.StartsPair(Rank(r), next[r])) {
        const ir::Op& other = schedule.programs[r][next[r] + 1];
        const uint32_t at = schedule.placement.stage[r][other.chunk];
        if (!can(other.kind, at, other.mb)) continue;  // both begin at once
        ++ran[{other.kind, at, other.mb}];
        ++next[r];
      }
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

namespace {

// (activation or gradient, stage whose output it is, micro-batch)
using Tensor = std::tuple<bool, uint32_t, uint32_t>;

class SlotMachine {
 public:
  SlotMachine(const ir::Schedule& schedule,
              const std::map<Direction, uint32_t>& slots)
      : schedule_(schedule), slots_(slots), next_(schedule.programs.size()) {}

  bool Run() {
    while (Deliver() || Compute()) {
    }
    for (size_t r = 0; r < next_.size(); ++r) {
      if (next_[r] < schedule_.programs[r].size()) return false;
    }
    return true;
  }

 private:
  struct Pipe {
    std::deque<Tensor> sent;   // not arrived
    std::set<Tensor> arrived;  // each in a slot
  };

  uint32_t RankOf(uint32_t stage) const {
    return schedule_.placement.home[stage].rank.value;
  }

  bool Deliver() {
    for (auto& [direction, pipe] : pipes_) {
      if (pipe.sent.empty() || pipe.arrived.size() >= slots_.at(direction)) {
        continue;
      }
      pipe.arrived.insert(pipe.sent.front());
      pipe.sent.pop_front();
      return true;
    }
    return false;
  }

  bool Compute() {
    for (uint32_t r = 0; r < next_.size(); ++r) {
      if (next_[r] == schedule_.programs[r].size()) continue;
      if (!Step(r, schedule_.programs[r][next_[r]])) continue;
      ++next_[r];
      return true;
    }
    return false;
  }

  bool Step(uint32_t rank, const ir::Op& op) {
    if (op.kind == OpKind::kW) return true;
    const bool forward = op.kind == OpKind::kF;
    const uint32_t stage = schedule_.placement.stage[rank][op.chunk];
    const uint32_t last = schedule_.placement.stages - 1;
    if (stage != (forward ? 0 : last)) {
      const uint32_t before = forward ? stage - 1 : stage + 1;
      const Tensor input{forward, before, op.mb};
      auto& held = RankOf(before) == rank
                       ? here_
                       : pipes_[{RankOf(before), rank, forward}].arrived;
      if (held.erase(input) == 0) return false;
    }
    if (stage != (forward ? last : 0)) {
      const uint32_t after = forward ? stage + 1 : stage - 1;
      const Tensor output{forward, stage, op.mb};
      if (RankOf(after) == rank) {
        here_.insert(output);
      } else {
        pipes_[{rank, RankOf(after), forward}].sent.push_back(output);
      }
    }
    return true;
  }

  const ir::Schedule& schedule_;
  const std::map<Direction, uint32_t>& slots_;
  std::vector<size_t> next_;
  std::map<Direction, Pipe> pipes_;
  std::set<Tensor> here_;  // handed over on a rank
};

}  // namespace

bool RunsWithSlots(const ir::Schedule& schedule,
                   const std::map<Direction, uint32_t>& slots) {
  return SlotMachine(schedule, slots).Run();
}

}  // namespace pp::testing
