#include "compiler/ir/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ir/memory_model.h"

namespace pp::ir {
namespace {

std::string Time(const CostModel& costs, Ticks ticks) {
  return PrintTicks(ticks) + (costs.timed ? "ms" : "");
}

// `ticks` was worked out from `wire` where that goes by size.
std::string PrintTransfer(const CostModel& costs, Ticks ticks,
                          const Wire& wire) {
  if (wire.per_mib == 0) return Time(costs, ticks);
  return fmt::format("{}+{}/MiB", Time(costs, wire.latency),
                     Time(costs, wire.per_mib));
}

bool BySize(const CostModel& costs) {
  return costs.comm_wire.per_mib != 0 ||
         std::any_of(costs.edge_wire.begin(), costs.edge_wire.end(),
                     [](const auto& edge) { return edge.second.per_mib != 0; });
}

// In proportion, to the largest unit that all three are multiples of: a
// picture of simple costs keeps to their grid.
Ticks ForwardShare(Ticks both, Ticks forward, Ticks backward) {
  const Ticks unit = std::gcd(both, std::gcd(forward, backward));
  if (unit == 0 || both < 2 * unit) return both / 2;
  const auto exact = static_cast<__int128>(both) * forward;
  const auto whole = static_cast<__int128>(forward + backward) * unit;
  const auto units = static_cast<Ticks>((exact + whole / 2) / whole);
  return std::clamp<Ticks>(units, 1, both / unit - 1) * unit;
}

}  // namespace

Ticks CostModel::LargestOp() const {
  Ticks most = *std::max_element(op.begin(), op.end());
  for (const OpCosts& costs : stage) {
    most = std::max(most, *std::max_element(costs.begin(), costs.end()));
  }
  return std::max(most, pair.value_or(0));
}

Ticks CostModel::Shown(const Schedule& schedule, Rank rank,
                       size_t position) const {
  const auto& program = schedule.programs[rank.value];
  const auto stage = [&](size_t at) {
    return schedule.StageOf(rank, program[at].chunk);
  };
  const Op& op = program[position];
  const bool first = schedule.StartsPair(rank, position);
  if (!first && !schedule.EndsPair(rank, position)) {
    return Of(stage(position), op.kind);
  }
  const size_t f = first ? position : position - 1;
  const OpKind backward = program[f + 1].kind;
  const Ticks f_alone = Of(stage(f), OpKind::kF);
  const Ticks b_alone = Of(stage(f + 1), backward);
  const Ticks both = Pair(stage(f), stage(f + 1), backward);
  const Ticks f_share = ForwardShare(both, f_alone, b_alone);
  return first ? f_share : both - f_share;
}

Ticks CostModel::LargestTransfer() const {
  Ticks most = comm;
  for (const auto& [ends, ticks] : edge) most = std::max(most, ticks);
  return most;
}

Status CheckClockFits(const CostModel& costs, uint64_t ops) {
  const Ticks longest = costs.LargestOp() + costs.LargestTransfer();
  int64_t total = 0;
  if (ops > static_cast<uint64_t>(INT64_MAX) ||
      __builtin_mul_overflow(longest, static_cast<int64_t>(ops), &total)) {
    return UsageError(fmt::format(
        "{} operations of up to {} units each do not fit the clock; choose a "
        "larger unit of cost",
        ops, PrintTicks(longest)));
  }
  return OkStatus();
}

Status CheckCovers(const CostModel& costs, const Schedule& schedule) {
  if (costs.stage.size() > schedule.placement.stages) {
    return UsageError(fmt::format(
        "the costs name stage {}, but {} has stages 0..{}",
        costs.stage.size() - 1, schedule.name, schedule.placement.stages - 1));
  }
  for (const auto& [ends, ticks] : costs.edge) {
    if (std::max(ends.first, ends.second) < schedule.ranks) continue;
    return UsageError(fmt::format(
        "the costs name transfers from rank {} to rank {}, but {} "
        "has ranks 0..{}",
        ends.first, ends.second, schedule.name, schedule.ranks - 1));
  }
  std::array<bool, kOpKinds> used{};
  if (std::count(costs.known.begin(), costs.known.end(), true) == kOpKinds) {
    return OkStatus();
  }
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) used[static_cast<size_t>(op.kind)] = true;
  }
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    if (!used[kind] || costs.known[kind]) continue;
    return UsageError(fmt::format("the costs give no `{0}`, but {1} runs `{0}`",
                                  kOpNames[kind], schedule.name));
  }
  return OkStatus();
}

std::string Print(const CostModel& costs) {
  std::string text;
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    if (!costs.known[kind]) continue;
    text += fmt::format("{}={},", kOpNames[kind], Time(costs, costs.op[kind]));
  }
  if (costs.pair) text += fmt::format("pair={},", Time(costs, *costs.pair));
  text += "comm=" + PrintTransfer(costs, costs.comm, costs.comm_wire);
  for (uint32_t s = 0; s < costs.stage.size(); ++s) {
    for (size_t kind = 0; kind < kOpKinds; ++kind) {
      if (costs.stage[s][kind] == costs.op[kind]) continue;
      text += fmt::format(",{}.{}={}", kOpNames[kind], s,
                          Time(costs, costs.stage[s][kind]));
    }
  }
  for (const auto& [ends, ticks] : costs.edge) {
    const auto wire = costs.edge_wire.find(ends);
    text += fmt::format(
        ",comm.{}.{}={}", ends.first, ends.second,
        PrintTransfer(costs, ticks,
                      wire == costs.edge_wire.end() ? Wire{} : wire->second));
  }
  if (BySize(costs)) text += ",message=" + PrintBytes(costs.message);
  return text;
}

std::string PrintTicks(Ticks ticks) {
  uint64_t size = ticks < 0 ? 0 - static_cast<uint64_t>(ticks) : ticks;
  std::string text =
      fmt::format("{}{}", ticks < 0 ? "-" : "", size / kTicksPerUnit);
  uint64_t rest = size % kTicksPerUnit;
  if (rest == 0) return text;
  std::string digits = fmt::format("{:06}", rest);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

// A decimal of up to three digits behind the point in the largest unit that is
// exact, unless that takes more than four before it.
std::string PrintBytes(Bytes bytes) {
  struct Unit {
    const char* name;
    Bytes size;
  };
  for (const Unit& unit : {Unit{"TiB", kMiB << 20}, Unit{"GiB", kMiB << 10},
                           Unit{"MiB", kMiB}, Unit{"KiB", kMiB >> 10}}) {
    const Bytes eighths = bytes / (unit.size / 8);
    if (bytes < unit.size || bytes % (unit.size / 8) != 0 ||
        bytes / unit.size >= 8192) {
      continue;
    }
    return PrintTicks(eighths * (kTicksPerUnit / 8)) + unit.name;
  }
  return fmt::format("{}B", bytes);
}

namespace {

void AppendMemory(std::string& text, const StageMemory& m,
                  const StageMemory& base, const std::string& suffix) {
  const auto add = [&](const char* name, Bytes value, Bytes other) {
    if (value == other) return;
    text += fmt::format("{}{}{}={}", text.empty() ? "" : ",", name, suffix,
                        PrintBytes(value));
  };
  add("act", m.act, base.act);
  if (m.after_i != AfterIDefault(m.act, base)) {
    text += fmt::format("{}act.after_I{}={}", text.empty() ? "" : ",", suffix,
                        PrintBytes(m.after_i));
  }
  add("weights", m.weights, base.weights);
  add("gradients", m.gradients, base.gradients);
  add("optimizer", m.optimizer, base.optimizer);
}

}  // namespace

std::string Print(const MemoryModel& memory) {
  std::string text;
  AppendMemory(text, memory.each, {}, "");
  for (size_t s = 0; s < memory.stage.size(); ++s) {
    if (memory.stage[s] == memory.each) continue;
    AppendMemory(text, memory.stage[s], memory.each, fmt::format(".{}", s));
  }
  if (memory.limit) {
    text += fmt::format("{}limit={}", text.empty() ? "" : ",",
                        PrintBytes(*memory.limit));
  }
  return text;
}

}  // namespace pp::ir
