// Rule: on a rank, B and I of a (chunk, micro-batch) come after its F, and W
// after its I. An operation that is not there at all is coverage's business.
// Codes: BackwardBeforeForward (4004), WeightBeforeInput (4005). Cost: linear.
//
//   rank r { repeat M { B F } }          // B@0 before F@0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/check/checks.h"
#include "compiler/check/schedule_where.h"
#include "compiler/check/sets.h"

namespace pp::check {
namespace {

using ir::OpKind;

constexpr uint32_t kNowhere = 0xFFFFFFFF;

// All pairs of one kind and chunk that stand the wrong way round.
struct Fault {
  Rank rank;        // of the first
  ir::Op early{};   // runs too early
  ir::Op needed{};  // what it needs, further down
  RankedSets where;
};
using Faults = std::map<std::pair<OpKind, uint32_t>, Fault>;

// First position of each (chunk, micro-batch) on a rank, for one kind.
class Positions {
 public:
  Positions(size_t chunks, uint32_t micro_batches)
      : micro_batches_(micro_batches), at_(chunks * micro_batches, kNowhere) {}

  uint32_t& At(const ir::Op& op) {
    return at_[size_t{op.chunk} * micro_batches_ + op.mb];
  }

 private:
  uint32_t micro_batches_;
  std::vector<uint32_t> at_;
};

void Remember(Faults& faults, Rank rank, const ir::Op& early,
              const ir::Op& needed) {
  Fault& fault = faults[{early.kind, early.chunk}];
  if (fault.where.empty()) {
    fault.rank = rank;
    fault.early = early;
    fault.needed = needed;
  }
  if (fault.where.empty() || fault.where.back().first != rank) {
    fault.where.push_back({rank, {}});
  }
  fault.where.back().second.push_back(early.mb);
}

void LookAtRank(const ir::Schedule& schedule, Rank rank, Faults& faults) {
  const auto& program = schedule.programs[rank.value];
  const size_t chunks = schedule.placement.stage[rank.value].size();
  // Coverage has told of programs that are far too short; no memory for them.
  if (chunks * schedule.micro_batches > 64 * program.size() + (1 << 20)) return;
  Positions forward(chunks, schedule.micro_batches);
  Positions input(chunks, schedule.micro_batches);
  for (uint32_t i = 0; i < program.size(); ++i) {
    const ir::Op& op = program[i];
    if (op.kind != OpKind::kF && op.kind != OpKind::kI) continue;
    uint32_t& at = (op.kind == OpKind::kF ? forward : input).At(op);
    at = std::min(at, i);
  }
  for (uint32_t i = 0; i < program.size(); ++i) {
    const ir::Op& op = program[i];
    if (op.kind == OpKind::kF) continue;
    const uint32_t needed = (op.kind == OpKind::kW ? input : forward).At(op);
    const bool at_once = schedule.EndsPair(rank, i) && needed == i - 1;
    if (needed != kNowhere && (needed > i || at_once)) {
      Remember(faults, rank, op, program[needed]);
    }
  }
}

void Report(const ir::Schedule& schedule, Fault& fault, diag::Emitter& diag) {
  const auto code = fault.early.kind == OpKind::kW
                        ? diag::Code::kWeightBeforeInput
                        : diag::Code::kBackwardBeforeForward;
  const std::string early = Name(schedule, fault.rank, fault.early);
  const std::string needed = Name(schedule, fault.rank, fault.needed);
  auto error =
      diag.Emit(code, Where(schedule, fault.early),
                fmt::format("rank {}: {} runs before {}, whose result it needs",
                            fault.rank.value, early, needed));
  error.Note(Where(schedule, fault.needed),
             fmt::format("{} runs only here{}", needed,
                         Phase(schedule, fault.needed)));
  for (auto& [rank, mbs] : fault.where) std::ranges::sort(mbs);
  if (fault.where.size() > 1 || fault.where[0].second.size() > 1) {
    error.Note({}, Join(fault.where, "the same for"));
  }
  error.Help(fault.early.kind == OpKind::kW
                 ? "run `I` of a micro-batch before its `W`"
                 : "run `F` of a micro-batch before its backward");
}

}  // namespace

bool ScheduleOrder(const ir::Schedule& schedule, diag::Emitter& diag) {
  Faults faults;
  for (uint32_t r = 0; r < schedule.programs.size(); ++r) {
    LookAtRank(schedule, Rank(r), faults);
  }
  for (auto& [key, fault] : faults) Report(schedule, fault, diag);
  return faults.empty();
}

}  // namespace pp::check
