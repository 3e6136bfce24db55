// Properties of every lowered schedule: it verifies, runs to its end on a
// strict machine with the right tensors everywhere, and keeps the programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "compiler/analysis/simulate.h"
#include "compiler/check/check.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/lower/lower.h"
#include "compiler/source/source_manager.h"
#include "runtime/bytecode/verifier.h"
#include "tests/support/emulator.h"
#include "tests/support/op_lists.h"
#include "tests/unit/lower/more_schedules.h"
#include "tests/unit/lower/strict_replay.h"

namespace pp::testing {
namespace {

using bytecode::Instr;
using bytecode::Opcode;

Result<bytecode::Module> Lower(const ir::Schedule& schedule,
                               const ir::CostModel& costs,
                               const lower::Options& options) {
  const source::SourceManager sources;
  return lower::Lower(schedule, costs, sources, options);
}

Opcode OpcodeOf(ir::OpKind kind) {
  constexpr Opcode kOf[] = {Opcode::kForward, Opcode::kBackward,
                            Opcode::kBackwardInput, Opcode::kBackwardWeight};
  return kOf[static_cast<size_t>(kind)];
}

void ExpectSameComputeOrder(const ir::Schedule& schedule,
                            const bytecode::Module& module) {
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    size_t next = 0;
    for (const Instr& instr : module.programs[r].code) {
      if (bytecode::Info(instr.op).op_class != bytecode::OpClass::kCompute) {
        continue;
      }
      ASSERT_LT(next, schedule.programs[r].size());
      const ir::Op& op = schedule.programs[r][next++];
      ASSERT_EQ(instr.op, OpcodeOf(op.kind));
      ASSERT_EQ(instr.operand[0], op.chunk);
      ASSERT_EQ(instr.operand[1], op.mb);
    }
    ASSERT_EQ(next, schedule.programs[r].size());
  }
}

// Most slots in use at once: fewer numbers cannot do.
uint32_t PeakSlots(const bytecode::RankProgram& program) {
  uint32_t used = 0;
  uint32_t peak = 0;
  for (const Instr& instr : program.code) {
    const bool computes =
        bytecode::Info(instr.op).op_class == bytecode::OpClass::kCompute &&
        instr.op != Opcode::kBackwardWeight;
    if (instr.op == Opcode::kRecv ||
        (computes &&
         bytecode::op::Forward::Of(instr).out != bytecode::kNoSlot)) {
      peak = std::max(peak, ++used);
    }
    if (instr.op == Opcode::kFree) --used;
  }
  return peak;
}

// The emulator is slow and has other authors than the replay; it sees all
// random schedules and the smaller published ones.
constexpr size_t kEmulated = 2000;

size_t Instructions(const bytecode::Module& module) {
  size_t count = 0;
  for (const auto& program : module.programs) count += program.code.size();
  return count;
}

// Everything that must hold for any schedule and any cost model.
void Check(const ir::Schedule& schedule, const ir::CostModel& costs,
           const lower::Options& options = {}) {
  const auto module = Lower(schedule, costs, options);
  ASSERT_TRUE(module) << module.error().message();
  const Status verified = bytecode::Verify(*module);
  ASSERT_TRUE(verified.ok()) << verified.message();
  diag::Emitter diag;
  ASSERT_TRUE(check::CheckModule(*module, diag)) << diag.all()[0].message;
  const Replay replay = RunStrict(*module, costs);
  ASSERT_EQ(replay.fault, "");
  // No published order needs a further slot; a random one may.
  if (schedule.name != "random") {
    ASSERT_LE(replay.receive_slots, options.receive_slots);
  }
  ExpectSameComputeOrder(schedule, *module);
  const ir::Metrics metrics = analysis::Simulate(schedule, costs);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const bytecode::RankProgram& program = module->programs[r];
    ASSERT_EQ(program.stashes, metrics.ranks[r].peak_activations);
    ASSERT_EQ(program.slots, PeakSlots(program));
    ASSERT_EQ(program.debug.size(), program.code.size());
  }
  if (Instructions(*module) <= kEmulated) {
    const Outcome outcome = Emulate(*module);
    ASSERT_TRUE(outcome.ok()) << outcome.Text();
  }
  const auto again = Lower(schedule, costs, options);
  ASSERT_TRUE(again && *again == *module) << "lowering is not deterministic";
}

TEST(LowerProperty, PublishedSchedules) {
  for (ir::Ticks comm : {0, 500'000, 1'000'000, 2'700'000}) {
    ir::CostModel costs;
    costs.comm = comm;
    for (uint32_t P : {1, 2, 3, 4, 5, 8}) {
      for (uint32_t M : {1, 2, 3, 4, 7, 8, 16, 24}) {
        SCOPED_TRACE(fmt::format("P={} M={} comm={}", P, M, comm));
        ASSERT_NO_FATAL_FAILURE(Check(GPipe(P, M), costs));
        ASSERT_NO_FATAL_FAILURE(Check(OneFOneB(P, M), costs));
        ASSERT_NO_FATAL_FAILURE(Check(OneFOneB(P, M, /*eager=*/true), costs));
        ASSERT_NO_FATAL_FAILURE(Check(BreadthFirstBackwards(P, M, 3), costs));
        if (M >= P) {
          ASSERT_NO_FATAL_FAILURE(Check(ZbH1(P, M), costs));
        }
        if (M >= 2 * P) {
          ASSERT_NO_FATAL_FAILURE(Check(DualPipeV(P, M), costs));
        }
        if (M % P == 0) {
          for (uint32_t v : {2, 4}) {
            ASSERT_NO_FATAL_FAILURE(Check(Interleaved(P, M, v), costs));
          }
        }
      }
    }
  }
}

TEST(LowerProperty, RandomSchedules) {
  const char* wanted = std::getenv("PP_RANDOM_SCHEDULES");
  const uint64_t count = wanted ? std::strtoull(wanted, nullptr, 10) : 10'000;
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 rng(seed);
    const ir::Schedule schedule = RandomSchedule(rng);
    const ir::CostModel costs = RandomCosts(rng);
    const lower::Options options{.receive_slots =
                                     static_cast<uint32_t>(1 + rng() % 2)};
    ASSERT_NO_FATAL_FAILURE(Check(schedule, costs, options));
  }
}

// About half of the forwards that a backward stands behind run at once with it.
void JoinSome(ir::Schedule& schedule, std::mt19937_64& rng) {
  schedule.paired.resize(schedule.ranks);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const auto& program = schedule.programs[r];
    schedule.paired[r].resize(program.size());
    for (size_t i = 0; i + 1 < program.size(); ++i) {
      const ir::OpKind next = program[i + 1].kind;
      schedule.paired[r][i] =
          program[i].kind == ir::OpKind::kF && rng() % 2 == 0 &&
          (next == ir::OpKind::kB || next == ir::OpKind::kI);
    }
  }
}

// Pairs may close a circle; what the check lets through has to be lowered.
TEST(LowerProperty, RandomSchedulesWithPairs) {
  uint64_t lowered = 0;
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 rng(seed);
    ir::Schedule schedule = RandomSchedule(rng);
    JoinSome(schedule, rng);
    ir::CostModel costs = RandomCosts(rng);
    if (rng() % 2 == 0) costs.pair = 1 + static_cast<ir::Ticks>(rng() % 9);
    diag::Emitter diag;
    if (!check::CheckSchedule(schedule, diag)) continue;
    ++lowered;
    ASSERT_NO_FATAL_FAILURE(
        Check(schedule, costs,
              {.receive_slots = static_cast<uint32_t>(1 + rng() % 2)}));
  }
  EXPECT_GT(lowered, 1'000u);
}

}  // namespace
}  // namespace pp::testing
