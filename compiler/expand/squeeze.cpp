#include "compiler/expand/squeeze.h"

#include <algorithm>
#include <optional>

namespace pp::expand {
namespace {

using ir::OpKind;

constexpr int64_t kNever = INT64_MAX;
constexpr uint32_t kEnd = UINT32_MAX;

class Squeezer {
 public:
  Squeezer(ir::Schedule& schedule, const std::vector<bool>& movable)
      : schedule_(schedule),
        movable_(movable),
        forward_(Cells(), kNever),
        backward_(Cells(), kNever) {
    for (const auto& program : schedule.programs) {
      Track& track = tracks_.emplace_back();
      for (uint32_t i = 0; i < program.size(); ++i) track.next.push_back(i + 1);
      if (program.empty()) {
        track.head = kEnd;
      } else {
        track.next.back() = kEnd;
      }
      track.most = PeakOf(program);
    }
  }

  void Run() {
    // A slot in which nothing begins and nothing runs never ends.
    for (bool any = true; any; ++now_) {
      any = false;
      for (uint32_t r = 0; r < tracks_.size(); ++r) {
        if (tracks_[r].busy_until > now_) {
          any = true;
        } else if (const auto pick = Pick(r)) {
          picks_.push_back({r, *pick});
          any = true;
        }
      }
      for (const auto& [rank, pick] : picks_) Start(rank, pick);
      picks_.clear();
    }
    for (uint32_t r = 0; r < tracks_.size(); ++r) Finish(r);
  }

 private:
  // The operations of a rank that have not run, as a list.
  struct Track {
    uint32_t head = 0;
    std::vector<uint32_t> next;
    std::vector<ir::Op> ran;
    int64_t busy_until = 0;
    int64_t alive = 0;  // activations held
    int64_t most = 0;   // that it may hold
  };
  struct Choice {
    uint32_t before = kEnd;  // kEnd: the head
    uint32_t op = 0;
  };

  size_t Cells() const {
    return size_t{schedule_.placement.stages} * schedule_.micro_batches;
  }
  size_t Cell(uint32_t stage, uint32_t mb) const {
    return size_t{stage} * schedule_.micro_batches + mb;
  }
  static int64_t Change(OpKind kind) {
    return kind == OpKind::kF ? 1 : kind == OpKind::kI ? 0 : -1;
  }
  static int64_t PeakOf(const std::vector<ir::Op>& program) {
    int64_t alive = 0, most = 0;
    for (const ir::Op& op : program) {
      alive += Change(op.kind);
      most = std::max(most, alive);
    }
    return most;
  }

  bool Ready(uint32_t rank, const ir::Op& op) const {
    const uint32_t stage = schedule_.StageOf(Rank(rank), op.chunk);
    const auto by_now = [&](const std::vector<int64_t>& done, uint32_t s) {
      return done[Cell(s, op.mb)] <= now_;
    };
    switch (op.kind) {
      case OpKind::kF:
        return stage == 0 || by_now(forward_, stage - 1);
      case OpKind::kB:
      case OpKind::kI:
        return by_now(forward_, stage) &&
               (stage + 1 == schedule_.placement.stages ||
                by_now(backward_, stage + 1));
      case OpKind::kW:
        return by_now(backward_, stage);
    }
    return false;
  }

  bool Held(uint32_t rank, const ir::Op& op) const {
    const uint32_t stage = schedule_.StageOf(Rank(rank), op.chunk);
    return forward_[Cell(stage, op.mb)] != kNever;
  }

  // What the rank begins now, if anything.
  std::optional<Choice> Pick(uint32_t rank) const {
    const Track& track = tracks_[rank];
    const auto& program = schedule_.programs[rank];
    std::optional<Choice> weight;  // ready, but gives way to an I
    int64_t held = track.alive, most = held, seen = 0;
    bool passed_forward = false;
    for (uint32_t before = kEnd, i = track.head; i != kEnd;
         before = i, i = track.next[i]) {
      const ir::Op& op = program[i];
      const bool first = before == kEnd;
      if (op.kind == OpKind::kF) {
        if (weight) return weight;
        const bool room = first || most + 1 <= track.most;
        if (room && Ready(rank, op)) return Choice{before, i};
        passed_forward = true;
      } else if (Ready(rank, op)) {
        if (op.kind != OpKind::kW || passed_forward) return Choice{before, i};
        if (!weight) weight = Choice{before, i};
      }
      if (!movable_[rank]) return weight;
      held += Change(op.kind);
      most = std::max(most, held);
      // Behind here there is no room for an F, and nothing of an activation
      // that is held.
      if (Change(op.kind) < 0 && Held(rank, op)) ++seen;
      if (most + 1 > track.most && seen == track.alive) return weight;
    }
    return weight;
  }

  void Start(uint32_t rank, Choice choice) {
    Track& track = tracks_[rank];
    const ir::Op op = schedule_.programs[rank][choice.op];
    const uint32_t stage = schedule_.StageOf(Rank(rank), op.chunk);
    const uint32_t after = track.next[choice.op];
    (choice.before == kEnd ? track.head : track.next[choice.before]) = after;
    track.ran.push_back(op);
    track.busy_until = now_ + ir::SlotsOf(op.kind);
    track.alive += Change(op.kind);
    if (op.kind == OpKind::kF) {
      forward_[Cell(stage, op.mb)] = track.busy_until;
    } else if (op.kind != OpKind::kW) {
      backward_[Cell(stage, op.mb)] = track.busy_until;
    }
  }

  void Finish(uint32_t rank) {
    Track& track = tracks_[rank];
    for (uint32_t i = track.head; i != kEnd; i = track.next[i]) {
      track.ran.push_back(schedule_.programs[rank][i]);
    }
    schedule_.programs[rank] = std::move(track.ran);
  }

  ir::Schedule& schedule_;
  const std::vector<bool>& movable_;
  std::vector<int64_t> forward_,
      backward_;  // when (stage, micro-batch) is done
  std::vector<Track> tracks_;
  struct Picked {
    uint32_t rank;
    Choice choice;
  };
  std::vector<Picked> picks_;
  int64_t now_ = 0;
};

}  // namespace

void Squeeze(ir::Schedule& schedule, const std::vector<bool>& movable) {
  Squeezer(schedule, movable).Run();
}

}  // namespace pp::expand
