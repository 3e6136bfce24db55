#include "compiler/lower/lower.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "compiler/analysis/simulate.h"
#include "compiler/source/source_manager.h"
#include "runtime/bytecode/text.h"
#include "tests/support/op_lists.h"
#include "tests/unit/lower/more_schedules.h"
#include "tests/unit/lower/strict_replay.h"

namespace pp::lower {
namespace {

using bytecode::Instr;
using bytecode::Opcode;
using ir::OpKind;
using testing::Add;
using testing::Frame;

constexpr ir::Ticks kUnit = ir::kTicksPerUnit;

ir::CostModel WithComm(ir::Ticks comm) {
  ir::CostModel costs;
  costs.comm = comm;
  return costs;
}

Result<bytecode::Module> TryLower(const ir::Schedule& schedule,
                                  const ir::CostModel& costs = {},
                                  const Options& options = {}) {
  const source::SourceManager sources;
  return Lower(schedule, costs, sources, options);
}

bytecode::Module Lowered(const ir::Schedule& schedule,
                         const ir::CostModel& costs = {},
                         const Options& options = {}) {
  auto module = TryLower(schedule, costs, options);
  EXPECT_TRUE(module) << module.error().message();
  return module ? *module : bytecode::Module{};
}

std::string Code(const bytecode::Module& module, uint32_t rank) {
  std::string text;
  for (const Instr& instr : module.programs[rank].code) {
    text += bytecode::PrintInstr(instr) + "\n";
  }
  return text;
}

std::string ErrorOf(const ir::Schedule& schedule,
                    const ir::CostModel& costs = {}) {
  const auto module = TryLower(schedule, costs);
  if (module) return "no error";
  EXPECT_EQ(module.error().code(), StatusCode::kInput);
  return module.error().message();
}

// ---- Instructions ----

TEST(Lower, OneForwardOneBackwardOnTwoRanks) {
  const bytecode::Module module = Lowered(testing::OneFOneB(2, 2));
  EXPECT_EQ(Code(module, 0),
            "forward c0 m0 - -> %0 $0\n"
            "send r1 l0 %0 act s0 m0\n"
            "forward c0 m1 - -> %1 $1\n"
            "send r1 l0 %1 act s0 m1\n"
            "recv r1 l1 %2 grad s1 m0\n"
            "wait %0\n"
            "free %0\n"
            "wait %2\n"
            "backward c0 m0 %2 -> - $0\n"
            "free %2\n"
            "recv r1 l1 %2 grad s1 m1\n"
            "wait %1\n"
            "free %1\n"
            "wait %2\n"
            "backward c0 m1 %2 -> - $1\n"
            "free %2\n"
            "scale c0\n"
            "reduce g0\n"
            "update c0\n");
  EXPECT_EQ(Code(module, 1),
            "recv r0 l0 %0 act s0 m0\n"
            "recv r0 l0 %1 act s0 m1\n"
            "wait %0\n"
            "forward c0 m0 %0 -> - $0\n"
            "free %0\n"
            "backward c0 m0 - -> %0 $0\n"
            "send r0 l1 %0 grad s1 m0\n"
            "wait %1\n"
            "forward c0 m1 %1 -> - $0\n"
            "free %1\n"
            "wait %0\n"
            "free %0\n"
            "backward c0 m1 - -> %0 $0\n"
            "send r0 l1 %0 grad s1 m1\n"
            "wait %0\n"
            "free %0\n"
            "scale c0\n"
            "reduce g0\n"
            "update c0\n");
  EXPECT_EQ(module.lanes, 2u);
  EXPECT_EQ(module.stages, 2u);
  EXPECT_EQ(module.micro_batches, 2u);
}

TEST(Lower, NeighboursOnOneRankHandOverThroughASlot) {
  ir::Schedule schedule = Frame({{0, 1}}, 1);
  Add(schedule, 0, OpKind::kF, 0, 0);
  Add(schedule, 0, OpKind::kF, 0, 1);
  Add(schedule, 0, OpKind::kI, 0, 1);
  Add(schedule, 0, OpKind::kB, 0, 0);
  Add(schedule, 0, OpKind::kW, 0, 1);
  const bytecode::Module module = Lowered(schedule);
  EXPECT_EQ(Code(module, 0),
            "forward c0 m0 - -> %0 $0\n"
            "forward c1 m0 %0 -> - $1\n"
            "free %0\n"
            "backward_input c1 m0 - -> %0 $1\n"
            "backward c0 m0 %0 -> - $0\n"
            "free %0\n"
            "backward_weight c1 m0 $1\n"
            "scale c0\n"
            "scale c1\n"
            "update c0\n"
            "update c1\n");
  EXPECT_EQ(module.lanes, 0u);
  EXPECT_TRUE(module.groups.empty());
}

TEST(Lower, OneStageOnOneRankNeedsNoSlot) {
  const bytecode::Module module = Lowered(testing::GPipe(1, 3));
  EXPECT_EQ(module.programs[0].slots, 0u);
  EXPECT_EQ(module.programs[0].stashes, 3u);
}

// Rank 1 sends F1 forward while rank 2 sends B0 back: both directions start
// together, on both ranks as one group.
TEST(Lower, ExactExchangeIsOneGroup) {
  const bytecode::Module module =
      Lowered(testing::OneFOneB(3, 3), WithComm(3 * kUnit));
  EXPECT_NE(Code(module, 1).find("group_begin\n"
                                 "send r2 l0 %0 act s1 m1\n"
                                 "recv r2 l1 %3 grad s2 m0\n"
                                 "group_end\n"),
            std::string::npos)
      << Code(module, 1);
  EXPECT_NE(Code(module, 2).find("group_begin\n"
                                 "recv r1 l0 %1 act s1 m1\n"
                                 "send r1 l1 %0 grad s2 m0\n"
                                 "group_end\n"),
            std::string::npos)
      << Code(module, 2);
}

// ---- The end of a step ----

TEST(Lower, TiedWeightsAreSummedInStageOrder) {
  ir::Schedule schedule = Frame({{1}, {2}, {0}}, 1);
  for (uint32_t r : {0, 1, 2}) {
    Add(schedule, r, OpKind::kF, 0);
    Add(schedule, r, OpKind::kB, 0);
  }
  const bytecode::Module module = Lowered(schedule);
  ASSERT_EQ(module.groups.size(), 1u);
  EXPECT_EQ(module.groups[0].kind, bytecode::GroupKind::kTied);
  EXPECT_EQ(module.groups[0].ranks, (std::vector<Rank>{Rank{2}, Rank{1}}));
  EXPECT_EQ(Code(module, 0).find("reduce"), std::string::npos);
  EXPECT_NE(Code(module, 1).find("scale c0\nreduce g0\nupdate c0\n"),
            std::string::npos);
  EXPECT_NE(Code(module, 2).find("scale c0\nreduce g0\nupdate c0\n"),
            std::string::npos);
}

TEST(Lower, FirstAndLastStageOnOneRankNeedNoReduce) {
  ir::Schedule schedule = Frame({{2, 0}, {1}}, 1);
  Add(schedule, 0, OpKind::kF, 0, 1);
  Add(schedule, 1, OpKind::kF, 0);
  Add(schedule, 0, OpKind::kF, 0, 0);
  Add(schedule, 0, OpKind::kB, 0, 0);
  Add(schedule, 1, OpKind::kB, 0);
  Add(schedule, 0, OpKind::kB, 0, 1);
  const bytecode::Module module = Lowered(schedule);
  EXPECT_TRUE(module.groups.empty());
  // Chunks in ascending stage order, whatever their numbers.
  EXPECT_NE(Code(module, 0).find("scale c1\nscale c0\nupdate c1\nupdate c0\n"),
            std::string::npos);
}

TEST(Lower, ARankWithoutStagesHasAnEmptyProgram) {
  ir::Schedule schedule = Frame({{0}, {}}, 1);
  Add(schedule, 0, OpKind::kF, 0);
  Add(schedule, 0, OpKind::kB, 0);
  EXPECT_TRUE(Lowered(schedule).programs[1].code.empty());
}

// ---- Where instructions come from ----

TEST(Lower, CommunicationCarriesTheSiteOfItsOperation) {
  ir::Schedule schedule = Frame({{0}, {1}}, 1);
  Add(schedule, 0, OpKind::kF, 0);  // site 0
  Add(schedule, 1, OpKind::kF, 0);  // site 1
  Add(schedule, 1, OpKind::kB, 0);  // site 2
  Add(schedule, 0, OpKind::kB, 0);  // site 3
  const bytecode::Module module = Lowered(schedule);
  constexpr uint32_t kNone = bytecode::kNoSite;
  const auto sites = [&](uint32_t rank) {
    std::vector<uint32_t> result;
    for (const auto& entry : module.programs[rank].debug) {
      result.push_back(entry.site);
    }
    return result;
  };
  // forward send | recv | wait backward free of rank 0's B; the tail. The
  // send's wait and free stand one computation after its end.
  EXPECT_EQ(sites(0), (std::vector<uint32_t>{0, 0, 3, 3, 3, 3, 0, 0, kNone,
                                             kNone, kNone}))
      << Code(module, 0);
  EXPECT_EQ(sites(1), (std::vector<uint32_t>{1, 1, 1, 1, 2, 2, 2, 2, kNone,
                                             kNone, kNone}))
      << Code(module, 1);
}

TEST(Lower, SitesAreFileLineColumnAndPhase) {
  source::SourceManager sources;
  const uint32_t file = sources.AddText("x.sched", "line one\n  F B\n");
  ir::Schedule schedule = testing::GPipe(1, 1);
  schedule.sites = {{{file, 11, 12}, "fill"}, {{}, "drain"}};
  const auto module = Lower(schedule, {}, sources, {});
  ASSERT_TRUE(module);
  ASSERT_EQ(module->sites.size(), 2u);
  EXPECT_EQ(module->sites[0], (bytecode::Site{"x.sched", 2, 3, "fill"}));
  EXPECT_EQ(module->sites[1], (bytecode::Site{"", 0, 0, "drain"}));
}

// ---- Slots ----

uint32_t MostSlots(const bytecode::Module& module) {
  uint32_t most = 0;
  for (const auto& program : module.programs) {
    most = std::max(most, program.slots);
  }
  return most;
}

// Field case 17: micro-batches in flight, 4 3 2 1.
TEST(Lower, StashesAreThePeakOfActivations) {
  const bytecode::Module one = Lowered(testing::OneFOneB(4, 8));
  const bytecode::Module all = Lowered(testing::GPipe(4, 8));
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ(one.programs[r].stashes, 4 - r);
    EXPECT_EQ(all.programs[r].stashes, 8u);
  }
}

TEST(Lower, SlotsDoNotGrowWithMicroBatches) {
  for (ir::Ticks comm : {ir::Ticks{0}, kUnit / 2}) {
    const ir::CostModel costs = WithComm(comm);
    EXPECT_EQ(MostSlots(Lowered(testing::OneFOneB(4, 8), costs)),
              MostSlots(Lowered(testing::OneFOneB(4, 64), costs)));
    EXPECT_EQ(MostSlots(Lowered(testing::GPipe(4, 8), costs)),
              MostSlots(Lowered(testing::GPipe(4, 64), costs)));
    EXPECT_LE(MostSlots(Lowered(testing::Interleaved(4, 64, 2), costs)), 8u);
  }
}

constexpr Options kOneSlot{.receive_slots = 1};

uint32_t ReceiveSlots(const ir::Schedule& schedule, const Options& options) {
  const testing::Replay replay =
      testing::RunStrict(Lowered(schedule, {}, options), {});
  EXPECT_EQ(replay.fault, "");
  return replay.receive_slots;
}

TEST(Lower, ReceiveSlotsKeepToTheirNumber) {
  for (const ir::Schedule& schedule :
       {testing::GPipe(4, 8), testing::OneFOneB(4, 8), testing::ZbH1(4, 8),
        testing::Interleaved(4, 8, 2),
        testing::BreadthFirstBackwards(4, 8, 2)}) {
    EXPECT_EQ(ReceiveSlots(schedule, kOneSlot), 1u);
    EXPECT_LE(ReceiveSlots(schedule, {}), 2u);
  }
}

// Rank 1 reads the tensors in the opposite order: the first ones fill the
// slots and wait. One more is granted, not one for each tensor.
TEST(Lower, ExtraReceiveSlotWhereNothingElseCanMove) {
  constexpr uint32_t kMicroBatches = 6;
  ir::Schedule schedule = Frame({{0}, {1}}, kMicroBatches);
  for (uint32_t m = 0; m < kMicroBatches; ++m) Add(schedule, 0, OpKind::kF, m);
  for (uint32_t m = kMicroBatches; m-- > 0;) {
    Add(schedule, 1, OpKind::kF, m);
    Add(schedule, 1, OpKind::kB, m);
    Add(schedule, 0, OpKind::kB, m);
  }
  EXPECT_EQ(ReceiveSlots(schedule, kOneSlot), 2u);
  EXPECT_EQ(ReceiveSlots(schedule, {}), 3u);
}

// ---- Time ----

// The measure of design: transfers of half a forward on one queue a rank cost
// 1.5 % over transfers that disturb nothing. This plan takes less.
TEST(Lower, InterleavedHidesItsTransfers) {
  const ir::Schedule schedule = testing::Interleaved(8, 16, 2);
  const ir::CostModel costs = WithComm(kUnit / 2);
  const testing::Replay replay =
      testing::RunStrict(Lowered(schedule, costs), costs);
  ASSERT_EQ(replay.fault, "");
  const ir::Ticks ideal = analysis::Simulate(schedule, costs).makespan;
  EXPECT_GE(replay.makespan, ideal);
  EXPECT_LE(static_cast<double>(replay.makespan),
            1.005 * static_cast<double>(ideal));
}

// Lowered without costs, run where a transfer takes a quarter of a forward.
TEST(Lower, PlanWithoutCostsStillOverlapsTransfers) {
  const ir::CostModel costs = WithComm(kUnit / 4);
  for (const ir::Schedule& schedule :
       {testing::OneFOneB(8, 32), testing::Interleaved(8, 16, 2),
        testing::ZbH1(8, 32), testing::GPipe(8, 32)}) {
    const testing::Replay replay = testing::RunStrict(Lowered(schedule), costs);
    ASSERT_EQ(replay.fault, "");
    const ir::Ticks ideal = analysis::Simulate(schedule, costs).makespan;
    EXPECT_LE(static_cast<double>(replay.makespan),
              1.03 * static_cast<double>(ideal))
        << schedule.ranks;
  }
}

// ---- Input that no check has passed ----

TEST(LowerErrors, IncompleteSchedule) {
  ir::Schedule schedule = testing::OneFOneB(2, 2);
  schedule.programs[1].pop_back();
  EXPECT_EQ(ErrorOf(schedule),
            "schedule test: stage 1, micro-batch 1: at the end of the program "
            "its F done");
}

TEST(LowerErrors, DoubledOperation) {
  ir::Schedule schedule = testing::OneFOneB(2, 2);
  schedule.programs[1].push_back(schedule.programs[1].back());
  EXPECT_NE(ErrorOf(schedule).find("rank 1, operation 4: "), std::string::npos);
  EXPECT_NE(ErrorOf(schedule).find("with all its work done"),
            std::string::npos);
}

TEST(LowerErrors, WeightHalfBeforeInputHalf) {
  ir::Schedule schedule = Frame({{0}}, 1);
  Add(schedule, 0, OpKind::kF, 0);
  Add(schedule, 0, OpKind::kW, 0);
  EXPECT_NE(ErrorOf(schedule).find("with its F done"), std::string::npos);
}

TEST(LowerErrors, OperationsInACycle) {
  ir::Schedule schedule = Frame({{0}, {1}}, 2);
  for (uint32_t m : {0, 1}) {
    Add(schedule, 0, OpKind::kF, m);
    Add(schedule, 0, OpKind::kB, m);
  }
  // Rank 0 does all of micro-batch 0 first, rank 1 all of micro-batch 1.
  Add(schedule, 1, OpKind::kF, 1);
  Add(schedule, 1, OpKind::kB, 1);
  Add(schedule, 1, OpKind::kF, 0);
  Add(schedule, 1, OpKind::kB, 0);
  EXPECT_NE(ErrorOf(schedule).find("wait for each other in a cycle; rank 0 "
                                   "never starts"),
            std::string::npos)
      << ErrorOf(schedule);
}

TEST(LowerErrors, PlacesOutOfRange) {
  ir::Schedule chunk = testing::GPipe(1, 1);
  chunk.programs[0][0].chunk = 9;
  EXPECT_NE(ErrorOf(chunk).find("chunk 9 of 1"), std::string::npos);
  ir::Schedule mb = testing::GPipe(1, 1);
  mb.programs[0][0].mb = 7;
  EXPECT_NE(ErrorOf(mb).find("micro-batch 7 of 1"), std::string::npos);
  ir::Schedule home = testing::GPipe(2, 1);
  home.placement.home[1].rank = Rank{5};
  EXPECT_NE(ErrorOf(home).find("placement"), std::string::npos);
  ir::Schedule none = testing::GPipe(1, 1);
  none.ranks = 0;
  EXPECT_NE(ErrorOf(none).find("must be at least 1"), std::string::npos);
}

TEST(LowerErrors, MoreThanBytecodeCanName) {
  ir::Schedule wide = testing::GPipe(1, 1);
  wide.ranks = 70'000;
  EXPECT_NE(ErrorOf(wide).find("at most 65535"), std::string::npos);
  ir::Schedule deep = testing::GPipe(1, 1);
  deep.placement.stages = 60'000;
  deep.micro_batches = 4'000'000'000;
  EXPECT_NE(ErrorOf(deep).find("can be lowered"), std::string::npos);
  constexpr uint32_t kAlive = 70'000;  // slots, all at once
  const ir::Schedule slots = testing::BreadthFirstBackwards(1, kAlive, 2);
  EXPECT_NE(ErrorOf(slots).find("70000 boundary tensors alive at once"),
            std::string::npos);
}

TEST(LowerErrors, CostsOutOfRange) {
  EXPECT_NE(ErrorOf(testing::GPipe(2, 2), WithComm(-1)).find("negative"),
            std::string::npos);
  const auto most = std::numeric_limits<ir::Ticks>::max();
  EXPECT_NE(ErrorOf(testing::GPipe(2, 2), WithComm(most / 2)).find("too large"),
            std::string::npos);
}

}  // namespace
}  // namespace pp::lower
