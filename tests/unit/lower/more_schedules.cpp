#include "tests/unit/lower/more_schedules.h"

#include <algorithm>
#include <vector>

#include "tests/support/op_lists.h"

namespace pp::testing {

using ir::OpKind;

ir::Schedule BreadthFirstBackwards(uint32_t P, uint32_t M, uint32_t v) {
  ir::Schedule result = LoopFrame(P, M, v);
  for (uint32_t r = 0; r < P; ++r) {
    for (uint32_t c = 0; c < v; ++c) {
      for (uint32_t m = 0; m < M; ++m) Add(result, r, OpKind::kF, m, c);
    }
    for (uint32_t c = v; c-- > 0;) {
      for (uint32_t m = M; m-- > 0;) Add(result, r, OpKind::kB, m, c);
    }
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

}  // namespace pp::testing
