// The walk of analysis/in_order.h with coverage and order judged on the way:
// each operation finds its (stage, micro-batch) in the one state that it may
// follow, so each runs once and in order; a rank whose input is not there waits
// for that one result, and the rank that makes it wakes it.
#include "compiler/check/accept_schedule.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace pp::check {
namespace {

using ir::Op;
using ir::OpKind;

// States of a (stage, micro-batch).
constexpr uint8_t Bit(OpKind kind) { return uint8_t(1u << unsigned(kind)); }
constexpr uint8_t kF = Bit(OpKind::kF);
constexpr uint8_t kB = Bit(OpKind::kB);
constexpr uint8_t kI = Bit(OpKind::kI);
// By kind: the state it follows; the results of a neighbour, one of which it
// reads (0: none).
constexpr uint8_t kBefore[ir::kOpKinds] = {0, kF, kF, kF | kI};
constexpr uint8_t kReads[ir::kOpKinds] = {kF, kB | kI, kB | kI, 0};

constexpr size_t kNoCell = std::numeric_limits<size_t>::max();

// Ranks take turns every few operations, too seldom the same for the processor
// to see that each reads on in order.
constexpr size_t kAhead = 16;

class Acceptor {
 public:
  explicit Acceptor(const ir::Schedule& schedule)
      : schedule_(schedule),
        micro_batches_(schedule.micro_batches),
        cells_(size_t{schedule.placement.stages} * micro_batches_),
        ranks_(schedule.programs.size()) {}

  bool Run() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) awake_.push_back(r);
    while (!awake_.empty()) {
      const uint32_t rank = awake_.back();
      awake_.pop_back();
      if (!Advance(rank)) return false;
    }
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].next != schedule_.programs[r].size()) return false;
    }
    return complete_ == cells_.size();
  }

 private:
  struct RankState {
    size_t next = 0;             // in its program
    size_t waits_for = kNoCell;  // of a neighbour
    uint8_t results = 0;         // of that cell, any of which will do
  };

  // Until the rank waits or has ended. False: something is out of order.
  bool Advance(uint32_t rank) {
    RankState& state = ranks_[rank];
    const std::vector<Op>& program = schedule_.programs[rank];
    for (; state.next < program.size(); ++state.next) {
      const Op& op = program[state.next];
      if (!HasInput(rank, op)) return true;
      if (schedule_.StartsPair(Rank(rank), state.next)) {
        // The first of a pair waits for what the second needs, too, which
        // cannot be its own result.
        const Op& second = program[state.next + 1];
        if (second.chunk == op.chunk && second.mb == op.mb) return false;
        if (!HasInput(rank, second)) return true;
      }
      __builtin_prefetch(program.data() +
                         std::min(state.next + kAhead, program.size()));
      if (!Do(rank, op)) return false;
    }
    return true;
  }

  // If not, the rank waits for it.
  bool HasInput(uint32_t rank, const Op& op) {
    const auto kind = static_cast<size_t>(op.kind);
    if (kReads[kind] == 0) return true;
    const uint32_t stage = schedule_.StageOf(Rank(rank), op.chunk);
    const bool forward = op.kind == OpKind::kF;
    if (stage == (forward ? 0 : schedule_.placement.stages - 1)) return true;
    const size_t cell = CellOf(forward ? stage - 1 : stage + 1, op.mb);
    if ((cells_[cell] & kReads[kind]) != 0) return true;
    ranks_[rank].waits_for = cell;
    ranks_[rank].results = kReads[kind];
    return false;
  }

  bool Do(uint32_t rank, const Op& op) {
    const uint32_t stage = schedule_.StageOf(Rank(rank), op.chunk);
    const size_t cell = CellOf(stage, op.mb);
    if (cells_[cell] != kBefore[static_cast<size_t>(op.kind)]) return false;
    cells_[cell] |= Bit(op.kind);
    switch (op.kind) {
      case OpKind::kF:
        if (stage + 1 < schedule_.placement.stages) Wake(stage + 1, cell, kF);
        return true;
      case OpKind::kB:
        ++complete_;
        [[fallthrough]];
      case OpKind::kI:
        if (stage > 0) Wake(stage - 1, cell, Bit(op.kind));
        return true;
      case OpKind::kW:
        ++complete_;
        return true;
    }
    return true;
  }

  void Wake(uint32_t reader, size_t cell, uint8_t result) {
    const uint32_t rank = schedule_.placement.home[reader].rank.value;
    RankState& state = ranks_[rank];
    if (state.waits_for != cell || (state.results & result) == 0) return;
    state.waits_for = kNoCell;
    awake_.push_back(rank);
  }

  size_t CellOf(uint32_t stage, uint32_t mb) const {
    return stage * micro_batches_ + mb;
  }

  const ir::Schedule& schedule_;
  size_t micro_batches_;
  std::vector<uint8_t> cells_;  // by stage and micro-batch: what has run
  std::vector<RankState> ranks_;
  std::vector<uint32_t> awake_;
  size_t complete_ = 0;  // cells that have gone forward and back
};

}  // namespace

bool AcceptsSchedule(const ir::Schedule& schedule) {
  // Any M may be asked for; memory is taken only for what could be covered.
  const uint64_t cells =
      uint64_t{schedule.placement.stages} * schedule.micro_batches;
  if (ir::CountOperations(schedule) < 2 * cells) return false;
  return Acceptor(schedule).Run();
}

}  // namespace pp::check
