// What operations and transfers cost in the simulator, exactly.
//
// Integers inside: one unit of cost is kTicksPerUnit ticks, so that results
// are the same on every machine and equality in `expect` means equality. A
// model in units of time counts in milliseconds, so a tick is a nanosecond.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/schedule.h"
#include "runtime/base/status.h"

namespace pp::ir {

using Ticks = int64_t;
using Bytes = int64_t;
inline constexpr Ticks kTicksPerUnit = 1'000'000;
inline constexpr Bytes kMiB = Bytes{1} << 20;

// Time of a transfer of n bytes: latency + n x per_mib / 1 MiB, rounded up to
// a tick (the linear model of Hockney 1994).
struct Wire {
  Ticks latency = 0;
  Ticks per_mib = 0;

  friend bool operator==(const Wire&, const Wire&) = default;
};

struct CostModel {
  using OpCosts = std::array<Ticks, kOpKinds>;

  // By OpKind: F, B, I, W. Default F = I = W = 1, B = I + W.
  OpCosts op = {kTicksPerUnit, 2 * kTicksPerUnit, kTicksPerUnit, kTicksPerUnit};
  // A kind without a cost has 0 here and must not be run (CheckCovers). Only
  // models in units of time have such.
  std::array<bool, kOpKinds> known = {true, true, true, true};
  // Of an `F & B`; without it what the two take one after the other.
  std::optional<Ticks> pair;
  Ticks comm = 0;      // of one transfer between two ranks, size included
  bool timed = false;  // in milliseconds; else in a unit of no name

  // ---- Uneven pipelines: what differs from the above ----
  std::vector<OpCosts> stage;  // by stage, up to the last that differs
  std::map<std::pair<uint32_t, uint32_t>, Ticks> edge;  // (from, to rank)

  // ---- What comm and edge were worked out from ----
  Bytes message = 0;  // size of one activation or gradient; 0: not known
  Wire comm_wire;
  std::map<std::pair<uint32_t, uint32_t>, Wire> edge_wire;

  Ticks Of(OpKind kind) const { return op[static_cast<size_t>(kind)]; }
  Ticks Of(uint32_t of_stage, OpKind kind) const {
    return of_stage < stage.size() ? stage[of_stage][static_cast<size_t>(kind)]
                                   : Of(kind);
  }
  Ticks Pair() const { return pair.value_or(Of(OpKind::kF) + Of(OpKind::kB)); }
  // Of an F and the B or I that is run at once with it. An `F & I` takes both
  // times: what of `F & B` is due to the W is not known.
  Ticks Pair(uint32_t f_stage, uint32_t b_stage, OpKind backward) const {
    if (pair && backward == OpKind::kB) return *pair;
    return Of(f_stage, OpKind::kF) + Of(b_stage, backward);
  }
  // Of the operation at `position`, as it is drawn: the two of a pair share
  // its time as they would take it one after the other.
  Ticks Shown(const Schedule& schedule, Rank rank, size_t position) const;
  Ticks Transfer(Rank from, Rank to) const {
    if (edge.empty()) return comm;
    const auto found = edge.find({from.value, to.value});
    return found == edge.end() ? comm : found->second;
  }
  Ticks LargestOp() const;
  Ticks LargestTransfer() const;
};

// The largest cost of one operation or transfer, in units.
inline constexpr int64_t kMaxCostUnits = 1'000'000;

// Whether `ops` operations and their transfers one after the other, the worst
// a schedule can come to, still fit the 64 bits of the clock. kUsage if not.
Status CheckClockFits(const CostModel& costs, uint64_t ops);

// Whether every operation of `schedule` has a cost, and every stage and edge
// that the costs name exists there. kUsage naming the first that has not.
Status CheckCovers(const CostModel& costs, const Schedule& schedule);

// Canonical, reads back as itself: all five, then what differs by stage and
// edge.
std::string Print(const CostModel& costs);
std::string PrintTicks(Ticks ticks);  // "1.5": shortest exact decimal
std::string PrintBytes(Bytes bytes);  // "1.5GiB": exact, else in bytes

}  // namespace pp::ir
