// Schedules beside those of tests/support: breadth-first as PyTorch drains it,
// and random ones with random placements and costs.
#pragma once

#include <cstdint>
#include <random>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/schedule.h"

namespace pp::testing {

// Lamy-Poirier 2023, backward from the last chunk and micro-batch.
ir::Schedule BreadthFirstBackwards(uint32_t P, uint32_t M, uint32_t v);

// Any stage on any rank; each (stage, micro-batch) with B or with I and W; the
// programs are the projection of one random topological order, so acyclic.
ir::Schedule RandomSchedule(std::mt19937_64& rng);
ir::CostModel RandomCosts(std::mt19937_64& rng);

}  // namespace pp::testing
