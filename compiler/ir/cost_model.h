// What operations and transfers cost in the simulator, exactly.
//
// Integers inside: one unit of cost is kTicksPerUnit ticks, so that results
// are the same on every machine and equality in `expect` means equality.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/ir/schedule.h"
#include "runtime/base/status.h"

namespace pp::ir {

using Ticks = int64_t;
inline constexpr Ticks kTicksPerUnit = 1'000'000;

struct CostModel {
  // By OpKind: F, B, I, W. Default F = I = W = 1, B = I + W.
  std::array<Ticks, kOpKinds> op = {kTicksPerUnit, 2 * kTicksPerUnit,
                                    kTicksPerUnit, kTicksPerUnit};
  Ticks comm = 0;  // latency of one transfer between two ranks

  Ticks Of(OpKind kind) const { return op[static_cast<size_t>(kind)]; }
};

// The largest cost of one operation or transfer, in units.
inline constexpr int64_t kMaxCostUnits = 1'000'000;

// "F=1,B=2.5,comm=0.1": decimal numbers with up to six digits after the
// point; what is not named keeps its default, B = I + W unless given. Blanks
// around names and numbers are skipped; an empty text is the default. kUsage
// with the text's own place for an unknown kind (did you mean), one named
// twice, a zero or negative operation, a negative latency, or a number too
// large (kMaxCostUnits).
Result<CostModel> ParseCosts(std::string_view text);

// Whether `ops` operations and their transfers one after the other, the worst
// a schedule can come to, still fit the 64 bits of the clock. kUsage if not.
Status CheckClockFits(const CostModel& costs, uint64_t ops);

std::string Print(const CostModel& costs);  // canonical: all five
std::string PrintTicks(Ticks ticks);        // "1.5": shortest exact decimal

}  // namespace pp::ir
