#include "compiler/analysis/in_order.h"

#include <deque>

namespace pp::analysis {

using ir::OpKind;

std::optional<Need> NeedOf(const ir::Schedule& schedule, uint32_t stage,
                           OpKind kind) {
  switch (kind) {
    case OpKind::kF:
      if (stage == 0) return std::nullopt;
      return Need{true, stage - 1};
    case OpKind::kB:
    case OpKind::kI:
      if (stage + 1 == schedule.placement.stages) return std::nullopt;
      return Need{false, stage + 1};
    case OpKind::kW:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint32_t> ReaderOf(const ir::Schedule& schedule, uint32_t stage,
                                 OpKind kind) {
  switch (kind) {
    case OpKind::kF:
      if (stage + 1 == schedule.placement.stages) return std::nullopt;
      return stage + 1;
    case OpKind::kB:
    case OpKind::kI:
      if (stage == 0) return std::nullopt;
      return stage - 1;
    case OpKind::kW:
      return std::nullopt;
  }
  return std::nullopt;
}

namespace {

class Walk {
 public:
  Walk(const ir::Schedule& schedule, llvm::function_ref<bool(Rank, size_t)> run)
      : schedule_(schedule),
        run_(run),
        next_(schedule.programs.size(), 0),
        queued_(schedule.programs.size(), true) {
    for (uint32_t r = 0; r < next_.size(); ++r) ready_.push_back(r);
  }

  std::vector<size_t> Go() {
    while (!ready_.empty()) {
      const uint32_t rank = ready_.front();
      ready_.pop_front();
      queued_[rank] = false;
      Advance(Rank(rank));
    }
    return std::move(next_);
  }

 private:
  void Advance(Rank rank) {
    const auto& program = schedule_.programs[rank.value];
    size_t& next = next_[rank.value];
    while (next < program.size() && run_(rank, next)) {
      Wake(rank, program[next]);
      ++next;
    }
  }

  void Wake(Rank rank, const ir::Op& op) {
    const uint32_t stage = schedule_.StageOf(rank, op.chunk);
    const auto reader = ReaderOf(schedule_, stage, op.kind);
    if (!reader) return;
    const uint32_t other = schedule_.placement.home[*reader].rank.value;
    if (other == rank.value || queued_[other]) return;
    queued_[other] = true;
    ready_.push_back(other);
  }

  const ir::Schedule& schedule_;
  llvm::function_ref<bool(Rank, size_t)> run_;
  std::vector<size_t> next_;
  std::vector<bool> queued_;
  std::deque<uint32_t> ready_;
};

}  // namespace

std::vector<size_t> RunInOrder(const ir::Schedule& schedule,
                               llvm::function_ref<bool(Rank, size_t)> run) {
  return Walk(schedule, run).Go();
}

std::vector<size_t> RunUntilStuck(const ir::Schedule& schedule) {
  const size_t m_count = schedule.micro_batches;
  std::vector<bool> forward(schedule.placement.stages * m_count, false);
  std::vector<bool> backward = forward;
  return RunInOrder(schedule, [&](Rank rank, size_t position) {
    const auto& program = schedule.programs[rank.value];
    const auto has_input = [&](const ir::Op& op) {
      const auto need =
          NeedOf(schedule, schedule.StageOf(rank, op.chunk), op.kind);
      if (!need) return true;
      const auto& done = need->forward ? forward : backward;
      return bool{done[need->stage * m_count + op.mb]};
    };
    const ir::Op& op = program[position];
    const uint32_t stage = schedule.StageOf(rank, op.chunk);
    if (!has_input(op)) return false;
    if (schedule.StartsPair(rank, position) &&
        !has_input(program[position + 1])) {
      return false;
    }
    if (op.kind == OpKind::kF) forward[stage * m_count + op.mb] = true;
    if (op.kind == OpKind::kB || op.kind == OpKind::kI) {
      backward[stage * m_count + op.mb] = true;
    }
    return true;
  });
}

}  // namespace pp::analysis
