// Op lists of published schedules written as plain loops, and random ones:
// inputs for the tests of lowering that do not need the language.
#pragma once

#include <cstdint>
#include <random>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/schedule.h"

namespace pp::testing {

ir::Schedule Gpipe(uint32_t P, uint32_t M);
ir::Schedule OneFOneB(uint32_t P, uint32_t M);
ir::Schedule Eager1F1B(uint32_t P, uint32_t M);
ir::Schedule Interleaved(uint32_t P, uint32_t M, uint32_t v);  // P divides M
ir::Schedule BreadthFirst(uint32_t P, uint32_t M, uint32_t v);
ir::Schedule ZbH1(uint32_t P, uint32_t M);  // M >= P

// Any stage on any rank; each (stage, micro-batch) with B or with I and W; the
// programs are the projection of one random topological order, so acyclic.
ir::Schedule RandomSchedule(std::mt19937_64& rng);
ir::CostModel RandomCosts(std::mt19937_64& rng);

// Longest path with transfers of latency costs.comm that disturb nothing.
ir::Ticks IdealMakespan(const ir::Schedule& schedule,
                        const ir::CostModel& costs);

// Most (stage, micro-batch) between F and B (or W) in program order.
uint32_t PeakActivations(const ir::Schedule& schedule, Rank rank);

}  // namespace pp::testing
