#include "tests/unit/lower/schedules.h"

#include <fmt/format.h>

#include <algorithm>

namespace pp::testing {
namespace {

using ir::Op;
using ir::OpKind;

// Stage s on rank s % P, as chunk s / P.
ir::Schedule Loop(const char* name, uint32_t P, uint32_t M, uint32_t v) {
  ir::Schedule result;
  result.name = name;
  result.params = {{"P", P}, {"M", M}};
  result.ranks = P;
  result.micro_batches = M;
  result.placement.text = v == 1 ? "linear" : fmt::format("loop({})", v);
  result.placement.stages = P * v;
  result.placement.stage.resize(P);
  for (uint32_t s = 0; s < P * v; ++s) {
    result.placement.home.push_back({Rank{s % P}, s / P});
    result.placement.stage[s % P].push_back(s);
  }
  result.programs.resize(P);
  return result;
}

// Appends to one rank's program, counting micro-batches like the language's
// cursors do.
struct Writer {
  std::vector<Op>& out;
  uint32_t next[ir::kOpKinds] = {};

  void Add(OpKind kind, uint32_t count = 1) {
    while (count-- > 0) {
      const uint32_t mb = next[static_cast<size_t>(kind)]++;
      out.push_back({.kind = kind, .mb = mb});
    }
  }
};

ir::Schedule WarmUp1F1B(const char* name, uint32_t P, uint32_t M,
                        uint32_t step) {
  ir::Schedule result = Loop(name, P, M, 1);
  for (uint32_t r = 0; r < P; ++r) {
    Writer w{result.programs[r]};
    const uint32_t warm_up = std::min(step * (P - 1 - r), M);
    w.Add(OpKind::kF, warm_up);
    for (uint32_t i = warm_up; i < M; ++i) {
      w.Add(OpKind::kF);
      w.Add(OpKind::kB);
    }
    w.Add(OpKind::kB, warm_up);
  }
  return result;
}

}  // namespace

ir::Schedule Gpipe(uint32_t P, uint32_t M) {
  ir::Schedule result = Loop("gpipe", P, M, 1);
  for (auto& program : result.programs) {
    Writer w{program};
    w.Add(OpKind::kF, M);
    w.Add(OpKind::kB, M);
  }
  return result;
}

ir::Schedule OneFOneB(uint32_t P, uint32_t M) {
  return WarmUp1F1B("one_f_one_b", P, M, 1);
}

ir::Schedule Eager1F1B(uint32_t P, uint32_t M) {
  return WarmUp1F1B("eager_1f1b", P, M, 2);
}

ir::Schedule Interleaved(uint32_t P, uint32_t M, uint32_t v) {
  ir::Schedule result = Loop("interleaved", P, M, v);
  // The k-th F (or B) of a rank: rounds of P micro-batches, chunk by chunk.
  const auto nth = [&](OpKind kind, uint32_t k) {
    const uint32_t round = k / (P * v);
    const uint32_t chunk = k / P % v;
    return Op{.kind = kind,
              .chunk = static_cast<uint16_t>(
                  kind == OpKind::kF ? chunk : v - 1 - chunk),
              .mb = round * P + k % P};
  };
  for (uint32_t r = 0; r < P; ++r) {
    const uint32_t total = M * v;
    const uint32_t warm_up = std::min(2 * (P - 1 - r) + (v - 1) * P, total);
    for (uint32_t k = 0; k < total + warm_up; ++k) {
      if (k < total) result.programs[r].push_back(nth(OpKind::kF, k));
      if (k >= warm_up) {
        result.programs[r].push_back(nth(OpKind::kB, k - warm_up));
      }
    }
  }
  return result;
}

ir::Schedule BreadthFirst(uint32_t P, uint32_t M, uint32_t v) {
  ir::Schedule result = Loop("breadth_first", P, M, v);
  for (auto& program : result.programs) {
    for (uint16_t c = 0; c < v; ++c) {
      for (uint32_t m = 0; m < M; ++m) {
        program.push_back({.kind = OpKind::kF, .chunk = c, .mb = m});
      }
    }
    for (uint16_t c = v; c-- > 0;) {
      for (uint32_t m = M; m-- > 0;) {
        program.push_back({.kind = OpKind::kB, .chunk = c, .mb = m});
      }
    }
  }
  return result;
}

ir::Schedule ZbH1(uint32_t P, uint32_t M) {
  ir::Schedule result = Loop("zb_h1", P, M, 1);
  for (uint32_t r = 0; r < P; ++r) {
    Writer w{result.programs[r]};
    w.Add(OpKind::kF, P - 1 - r);
    for (uint32_t i = 0; i < r; ++i) {
      w.Add(OpKind::kF);
      w.Add(OpKind::kI);
    }
    for (uint32_t i = 0; i < M - P + 1; ++i) {
      w.Add(OpKind::kF);
      w.Add(OpKind::kI);
      w.Add(OpKind::kW);
    }
    for (uint32_t i = 0; i < P - 1 - r; ++i) {
      w.Add(OpKind::kI);
      w.Add(OpKind::kW);
    }
    w.Add(OpKind::kW, r);
  }
  return result;
}

namespace {

uint32_t Below(std::mt19937_64& rng, uint32_t n) {
  return static_cast<uint32_t>(rng() % n);
}

void PlaceAnywhere(ir::Schedule& schedule, std::mt19937_64& rng) {
  ir::Placement& placement = schedule.placement;
  placement.text = "custom";
  placement.stage.resize(schedule.ranks);
  placement.home.resize(placement.stages);
  std::vector<uint32_t> order(placement.stages);
  for (uint32_t s = 0; s < placement.stages; ++s) order[s] = s;
  std::shuffle(order.begin(), order.end(), rng);  // chunks in any order
  for (uint32_t s : order) {
    const uint32_t rank = Below(rng, schedule.ranks);
    const auto chunk = static_cast<uint32_t>(placement.stage[rank].size());
    placement.home[s] = {Rank{rank}, chunk};
    placement.stage[rank].push_back(s);
  }
}

struct Node {
  OpKind kind;
  uint32_t stage;
  uint32_t mb;
};

}  // namespace

ir::Schedule RandomSchedule(std::mt19937_64& rng) {
  ir::Schedule result;
  result.name = "random";
  result.ranks = 1 + Below(rng, 8);
  result.micro_batches = 1 + Below(rng, 6);
  result.placement.stages = 1 + Below(rng, 10);
  result.params = {{"P", result.ranks}, {"M", result.micro_batches}};
  PlaceAnywhere(result, rng);
  result.programs.resize(result.ranks);
  result.sites.push_back({});
  const uint32_t S = result.placement.stages;
  const uint32_t split = Below(rng, 3);  // never, sometimes, always
  std::vector<Node> ready;
  for (uint32_t m = 0; m < result.micro_batches; ++m) {
    ready.push_back({OpKind::kF, 0, m});
  }
  while (!ready.empty()) {
    const uint32_t pick = Below(rng, static_cast<uint32_t>(ready.size()));
    const Node node = ready[pick];
    ready[pick] = ready.back();
    ready.pop_back();
    const ir::Home& home = result.placement.home[node.stage];
    result.programs[home.rank.value].push_back(
        {.kind = node.kind,
         .chunk = static_cast<uint16_t>(home.chunk),
         .mb = node.mb});
    if (node.kind == OpKind::kW) continue;
    if (node.kind == OpKind::kI) {
      ready.push_back({OpKind::kW, node.stage, node.mb});
    }
    if (node.kind == OpKind::kF && node.stage + 1 < S) {
      ready.push_back({OpKind::kF, node.stage + 1, node.mb});
      continue;
    }
    const bool last = node.kind == OpKind::kF;
    if (!last && node.stage == 0) continue;
    const OpKind backward = Below(rng, 2) < split ? OpKind::kI : OpKind::kB;
    ready.push_back({backward, last ? S - 1 : node.stage - 1, node.mb});
  }
  return result;
}

ir::CostModel RandomCosts(std::mt19937_64& rng) {
  ir::CostModel costs;
  for (auto& cost : costs.op) cost = 1 + Below(rng, 5);
  costs.comm = Below(rng, 3) == 0 ? 0 : Below(rng, 8);
  return costs;
}

namespace {

// When a tensor is there at the consumer, by (payload, stage, mb); -1: never.
class Arrivals {
 public:
  explicit Arrivals(const ir::Schedule& s)
      : schedule_(s),
        at_(2 * size_t{s.placement.stages} * s.micro_batches, -1) {}
  ir::Ticks& Act(uint32_t stage, uint32_t mb) {
    return at_[stage * size_t{schedule_.micro_batches} + mb];
  }
  ir::Ticks& Grad(uint32_t stage, uint32_t mb) {
    return at_[at_.size() / 2 + stage * size_t{schedule_.micro_batches} + mb];
  }

 private:
  const ir::Schedule& schedule_;
  std::vector<ir::Ticks> at_;
};

}  // namespace

ir::Ticks IdealMakespan(const ir::Schedule& schedule,
                        const ir::CostModel& costs) {
  Arrivals arrivals(schedule);
  const auto& home = schedule.placement.home;
  const uint32_t S = schedule.placement.stages;
  std::vector<size_t> next(schedule.ranks);
  std::vector<ir::Ticks> time(schedule.ranks);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t r = 0; r < schedule.ranks; ++r) {
      for (; next[r] < schedule.programs[r].size(); ++next[r], moved = true) {
        const Op& op = schedule.programs[r][next[r]];
        const uint32_t s = schedule.StageOf(Rank{r}, op.chunk);
        const bool forward = op.kind == OpKind::kF;
        const bool backward = op.kind == OpKind::kB || op.kind == OpKind::kI;
        ir::Ticks start = time[r];
        if (forward && s > 0) {
          if (arrivals.Act(s - 1, op.mb) < 0) break;
          start = std::max(start, arrivals.Act(s - 1, op.mb));
        }
        if (backward && s + 1 < S) {
          if (arrivals.Grad(s + 1, op.mb) < 0) break;
          start = std::max(start, arrivals.Grad(s + 1, op.mb));
        }
        time[r] = start + costs.Of(op.kind);
        const auto hop = [&](uint32_t to) {
          return time[r] + (home[to].rank == Rank{r} ? 0 : costs.comm);
        };
        if (forward && s + 1 < S) arrivals.Act(s, op.mb) = hop(s + 1);
        if (backward && s > 0) arrivals.Grad(s, op.mb) = hop(s - 1);
      }
    }
  }
  return *std::max_element(time.begin(), time.end());
}

uint32_t PeakActivations(const ir::Schedule& schedule, Rank rank) {
  uint32_t alive = 0;
  uint32_t peak = 0;
  for (const Op& op : schedule.programs[rank.value]) {
    if (op.kind == OpKind::kF) peak = std::max(peak, ++alive);
    if (op.kind == OpKind::kB || op.kind == OpKind::kW) --alive;
  }
  return peak;
}

}  // namespace pp::testing
