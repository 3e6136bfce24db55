// The expanded schedule: for one point (P, M, v, ...) each rank's compute
// operations in order, and where each stage lives. No communication yet.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/source/source_manager.h"
#include "runtime/base/ids.h"

namespace pp::ir {

enum class OpKind : uint8_t { kF, kB, kI, kW };
inline constexpr size_t kOpKinds = 4;
inline constexpr std::array<std::string_view, kOpKinds> kOpNames = {"F", "B",
                                                                    "I", "W"};

// How long an operation is in time slots, where a schedule is given by them.
constexpr int SlotsOf(OpKind kind) { return kind == OpKind::kB ? 2 : 1; }

// 16 bytes: there may be 10^8 of them.
struct Op {
  OpKind kind{};
  uint16_t chunk = 0;  // of the rank
  uint32_t mb = 0;
  uint32_t site = 0;       // index into Schedule::sites
  uint32_t iteration = 0;  // of the innermost loop at the site
};
static_assert(sizeof(Op) == 16);

struct Site {
  source::Span span;
  std::string phase;     // enclosing phase, or empty
  std::string origin{};  // "FILE:LINE:COLUMN" where the text is not at hand
};

struct Home {  // of a stage
  Rank rank;
  uint32_t chunk = 0;
};

struct Placement {
  std::string text;  // "linear", "loop(2)", ...
  uint32_t stages = 0;
  std::vector<Home> home;                    // by stage
  std::vector<std::vector<uint32_t>> stage;  // [rank][chunk] -> stage
};

struct Schedule {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> params;  // P, M first
  uint32_t ranks = 0;                                   // P
  uint32_t micro_batches = 0;                           // M
  Placement placement;
  std::vector<std::vector<Op>> programs;  // by rank
  // By rank, by operation up to the last such: an F that is run at once with
  // the B or I behind it (`F & B`). Empty: there is none.
  std::vector<std::vector<bool>> paired;
  std::vector<Site> sites;
  source::Span name_span;  // of the schedule's name, for whole-schedule errors

  bool StartsPair(Rank rank, size_t position) const {
    return !paired.empty() && position < paired[rank.value].size() &&
           paired[rank.value][position];
  }
  bool EndsPair(Rank rank, size_t position) const {
    return position > 0 && StartsPair(rank, position - 1);
  }

  uint32_t StageOf(Rank rank, uint32_t chunk) const {
    return placement.stage[rank.value][chunk];
  }
};

// "F[1]@3 (stage 5)" style name of an operation for messages; the chunk is
// left out where the rank holds one.
std::string Describe(const Schedule& schedule, Rank rank, const Op& op);

// Of all ranks together.
uint64_t CountOperations(const Schedule& schedule);

}  // namespace pp::ir
