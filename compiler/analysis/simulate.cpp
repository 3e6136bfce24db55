#include "compiler/analysis/simulate.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/analysis/in_order.h"
#include "compiler/analysis/liveness.h"

namespace pp::analysis {
namespace {

using ir::OpKind;
using ir::Ticks;

constexpr Ticks kNotYet = -1;

// Sums stop at the largest time instead of wrapping: costs are the user's.
Ticks Add(Ticks a, Ticks b) {
  Ticks sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::numeric_limits<Ticks>::max();
  }
  return sum;
}

class Simulation {
 public:
  // `now`: when each rank is free to begin.
  Simulation(const ir::Schedule& schedule, const ir::CostModel& costs,
             std::vector<Ticks> now, Timeline* timeline)
      : schedule_(schedule),
        costs_(costs),
        timeline_(timeline),
        forward_end_(Cells(), kNotYet),
        backward_end_(Cells(), kNotYet),
        now_(std::move(now)),
        messages_(size_t{2} * schedule.placement.stages) {
    metrics_.ranks.resize(schedule.programs.size());
    if (!timeline_) return;
    timeline_->start.clear();
    for (const auto& program : schedule.programs) {
      timeline_->start.emplace_back(program.size(), Ticks{0});
    }
  }

  // When each rank ended.
  std::vector<Ticks> RunOrder() {
    RunInOrder(schedule_, [this](Rank rank, size_t position) {
      return TryRun(rank, position);
    });
    return std::move(now_);
  }

  ir::Metrics Run() {
    RunOrder();
    const auto peaks = PeakActivations(schedule_);
    for (size_t r = 0; r < peaks.size(); ++r) {
      metrics_.ranks[r].peak_activations = peaks[r];
    }
    Summarize();
    return std::move(metrics_);
  }

 private:
  size_t Cells() const {
    return size_t{schedule_.placement.stages} * schedule_.micro_batches;
  }
  size_t Cell(uint32_t stage, uint32_t mb) const {
    return size_t{stage} * schedule_.micro_batches + mb;
  }

  // When the operation's input is on its rank; kNotYet: nobody knows yet.
  Ticks InputAt(Rank rank, uint32_t stage, const ir::Op& op) const {
    const auto need = NeedOf(schedule_, stage, op.kind);
    if (!need) return 0;
    const auto& ends = need->forward ? forward_end_ : backward_end_;
    const Ticks end = ends[Cell(need->stage, op.mb)];
    const bool local = schedule_.placement.home[need->stage].rank == rank;
    if (end == kNotYet || local) return end;
    return Add(
        end, costs_.Transfer(schedule_.placement.home[need->stage].rank, rank));
  }

  bool TryRun(Rank rank, size_t position) {
    if (schedule_.EndsPair(rank, position)) return true;  // has run
    const auto& program = schedule_.programs[rank.value];
    const bool pair = schedule_.StartsPair(rank, position);
    const ir::Op* const ops[] = {&program[position],
                                 &program[position + (pair ? 1 : 0)]};
    uint32_t stages[2];
    Ticks start = now_[rank.value];
    for (size_t i = 0; i < 2; ++i) {
      stages[i] = schedule_.StageOf(rank, ops[i]->chunk);
      const Ticks input = InputAt(rank, stages[i], *ops[i]);
      if (input == kNotYet) return false;
      start = std::max(start, input);
    }
    const Ticks cost = pair ? costs_.Pair(stages[0], stages[1], ops[1]->kind)
                            : costs_.Of(stages[0], ops[0]->kind);
    const Ticks end = Add(start, cost);
    now_[rank.value] = end;
    Record(rank, position, start, end);
    for (size_t i = 0; i < (pair ? 2 : 1); ++i) {
      Produce(rank, stages[i], *ops[i], end);
    }
    return true;
  }

  void Produce(Rank rank, uint32_t stage, const ir::Op& op, Ticks end) {
    if (op.kind == OpKind::kF) forward_end_[Cell(stage, op.mb)] = end;
    if (op.kind == OpKind::kB || op.kind == OpKind::kI) {
      backward_end_[Cell(stage, op.mb)] = end;
    }
    CountMessage(rank, stage, op.kind);
  }

  void Record(Rank rank, size_t position, Ticks start, Ticks end) {
    ir::RankMetrics& r = metrics_.ranks[rank.value];
    if (position == 0) r.first_start = start;
    r.last_end = end;
    r.busy = Add(r.busy, end - start);
    if (!timeline_) return;
    timeline_->start[rank.value][position] = start;
    if (schedule_.StartsPair(rank, position)) {
      timeline_->start[rank.value][position + 1] =
          Add(start, costs_.Shown(schedule_, rank, position));
    }
  }

  void CountMessage(Rank rank, uint32_t stage, OpKind kind) {
    const auto reader = ReaderOf(schedule_, stage, kind);
    if (!reader) return;
    const Rank to = schedule_.placement.home[*reader].rank;
    if (to == rank) return;
    ++metrics_.ranks[rank.value].messages_sent;
    ++messages_[2 * stage + (kind == OpKind::kF ? 0 : 1)];
    ++metrics_.messages;
  }

  void Summarize();
  void SumEdges();

  const ir::Schedule& schedule_;
  const ir::CostModel& costs_;
  Timeline* timeline_;
  std::vector<Ticks> forward_end_, backward_end_;  // by (stage, micro-batch)
  std::vector<Ticks> now_;                         // by rank
  std::vector<uint64_t> messages_;  // by stage that sends: forward, backward
  ir::Metrics metrics_;
};

void Simulation::Summarize() {
  Ticks first = std::numeric_limits<Ticks>::max();
  Ticks last = 0;
  Ticks longest = 0;
  Ticks work = 0;
  double busy = 0;
  SumEdges();
  for (size_t r = 0; r < metrics_.ranks.size(); ++r) {
    const ir::RankMetrics& rank = metrics_.ranks[r];
    if (schedule_.programs[r].empty()) continue;
    first = std::min(first, rank.first_start);
    last = std::max(last, rank.last_end);
    longest = std::max(longest, rank.last_end - rank.first_start);
    work = std::max(work, rank.busy);
    busy += static_cast<double>(rank.busy);
  }
  if (busy == 0) return;  // no operation at all
  metrics_.makespan = last - first;
  metrics_.work = work;
  for (const ir::RankMetrics& rank : metrics_.ranks) {
    metrics_.bubble = std::max(metrics_.bubble, metrics_.makespan - rank.busy);
  }
  const double area = static_cast<double>(metrics_.makespan) *
                      static_cast<double>(metrics_.ranks.size());
  metrics_.bubble_fraction = (area - busy) / area;
  metrics_.bubble_overhead = (area - busy) / busy;
  metrics_.bubble_longest_stage =
      static_cast<double>(longest - work) / static_cast<double>(longest);
}

void Simulation::SumEdges() {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> edges;
  const auto& home = schedule_.placement.home;
  for (uint32_t s = 0; s < schedule_.placement.stages; ++s) {
    if (messages_[2 * s] > 0) {
      edges[{home[s].rank.value, home[s + 1].rank.value}] += messages_[2 * s];
    }
    if (messages_[2 * s + 1] > 0) {
      edges[{home[s].rank.value, home[s - 1].rank.value}] +=
          messages_[2 * s + 1];
    }
  }
  for (const auto& [ends, messages] : edges) {
    metrics_.edges.push_back({ends.first, ends.second, messages});
  }
}

std::vector<Ticks> Begin(const ir::Schedule& schedule) {
  return std::vector<Ticks>(schedule.programs.size(), Ticks{0});
}

// Of the ranks that run anything.
Ticks FirstEnd(const ir::Schedule& schedule, const std::vector<Ticks>& ends) {
  Ticks first = std::numeric_limits<Ticks>::max();
  for (size_t r = 0; r < ends.size(); ++r) {
    if (!schedule.programs[r].empty()) first = std::min(first, ends[r]);
  }
  return first;
}

}  // namespace

ir::Metrics Simulate(const ir::Schedule& schedule, const ir::CostModel& costs,
                     Timeline* timeline) {
  return Simulation(schedule, costs, Begin(schedule), timeline).Run();
}

ir::Period SimulatePeriod(const ir::Schedule& schedule,
                          const ir::CostModel& costs, uint64_t max_steps) {
  // The ends of a step are a max-plus linear function of the ends of the last
  // one, so ends that repeat up to a shift repeat with that shift for ever.
  std::map<std::vector<Ticks>, std::pair<uint64_t, Ticks>> seen;
  std::vector<Ticks> ends = Begin(schedule);
  Ticks origin = 0;  // taken off `ends`, so that they stay small
  ir::Period average;
  for (uint64_t step = 0; step <= max_steps; ++step) {
    const auto [at, fresh] = seen.insert({ends, {step, origin}});
    if (!fresh) return {origin - at->second.second, step - at->second.first};
    average = {origin, std::max<uint64_t>(step, 1), false};
    ends = Simulation(schedule, costs, std::move(ends), nullptr).RunOrder();
    const Ticks first = FirstEnd(schedule, ends);
    for (Ticks& end : ends) end = std::max<Ticks>(end - first, 0);
    origin = Add(origin, first);
  }
  return average;
}

}  // namespace pp::analysis
