// The NCCL transport on the virtual GPU: order of creation and warm-up, groups,
// whole runs, hangs and aborts. NCCL itself is not needed.
#include "runtime/transport/nccl/nccl.h"

#include <gtest/gtest.h>

#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/launch/run_threads.h"
#include "runtime/transport/nccl/place.h"
#include "tests/support/fake_nccl.h"
#include "tests/support/programs.h"

namespace pp::transport::nccl {
namespace {

using launch::RunResult;
using std::chrono::milliseconds;
using Calls = std::vector<std::string>;
namespace op = bytecode::op;

TEST(Place, GoesThereAndBack) {
  const std::string id("\x00\xff\x10id", 5);
  EXPECT_EQ(ToPlace(id), "00ff106964");
  EXPECT_EQ(*FromPlace(ToPlace(id)), id);
  for (const char* bad : {"", "0", "0g", "00FF"}) EXPECT_FALSE(FromPlace(bad));
  EXPECT_FALSE(FromPlace(std::string(1 << 20, 'a')));
}

TEST(Place, LoopbackIsKnown) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("10.0.0.1"));
}

TEST(MakePlan, HasTheEdgesOfTheProgramAndNoMore) {
  const Plan plan = MakePlan(test::OneFOneB(3, 4));
  ASSERT_EQ(plan.lanes.size(), 2u);
  const std::vector<Edge> down = {{Rank(0), Rank(1)}, {Rank(1), Rank(2)}};
  const std::vector<Edge> up = {{Rank(1), Rank(0)}, {Rank(2), Rank(1)}};
  EXPECT_EQ(plan.lanes[0].edges, down);
  EXPECT_EQ(plan.lanes[1].edges, up);
  EXPECT_EQ(plan.lanes[0].members,
            (std::vector<Rank>{Rank(0), Rank(1), Rank(2)}));
  EXPECT_TRUE(plan.sums.members.empty());
}

TEST(MakePlan, SumsHaveAllPairsOfEachGroup) {
  auto module = test::OneFOneB(3, 4);
  module.groups = {{bytecode::GroupKind::kTied, {}, {Rank(2), Rank(0)}}};
  const Plan plan = MakePlan(module);
  EXPECT_EQ(plan.sums.members, (std::vector<Rank>{Rank(0), Rank(2)}));
  EXPECT_EQ(plan.sums.edges,
            (std::vector<Edge>{{Rank(0), Rank(2)}, {Rank(2), Rank(0)}}));
  EXPECT_FALSE(plan.sums.Has(Rank(1)));
}

class OnVirtualGpus : public testing::Test {
 protected:
  void Gpus(uint32_t count) {
    fake_ = std::make_shared<test::FakeDevice>(count);
    nccl_ = std::make_shared<test::FakeNccl>(fake_);
  }

  RunResult Run(const bytecode::Module& module,
                std::vector<std::pair<std::string, std::string>> options = {},
                launch::RunOptions run = {.steps = 3}) {
    run.on_step = [this](const launch::StepRecord&) { fake_->Meet(); };
    auto factory = engine::synthetic::CreateFactory();
    engine::EngineConfig config;
    config.device = "cuda";
    config.driver = fake_;
    config.options = std::move(options);
    EXPECT_TRUE(factory->Prepare(module, config).ok());
    auto ends = CreateLocal(nccl_, MakePlan(module), module.ranks());
    EXPECT_TRUE(ends);
    return RunThreads(module, *factory, std::move(*ends), run);
  }

  std::shared_ptr<test::FakeDevice> fake_;
  std::shared_ptr<test::FakeNccl> nccl_;
};

TEST_F(OnVirtualGpus, AllCreateInOneOrderAndWarmUpEveryEdgeOnce) {
  Gpus(3);
  auto module = test::OneFOneB(3, 1);
  module.groups = {{bytecode::GroupKind::kTied, {}, {Rank(0), Rank(2)}}};
  ASSERT_TRUE(Run(module, {}, {.steps = 1}).status.ok());
  const auto first = [&](uint32_t rank, size_t count) {
    Calls calls = nccl_->Calls(rank);
    calls.resize(std::min(count, calls.size()));
    return calls;
  };
  EXPECT_EQ(first(0, 7), (Calls{"split", "split", "split", "send c1>1",
                                "recv c2<1", "send c3>1", "recv c3<1"}));
  EXPECT_EQ(first(1, 7), (Calls{"split", "split", "split, no part", "recv c1<0",
                                "send c1>2", "send c2>0", "recv c2<2"}));
  EXPECT_EQ(first(2, 7), (Calls{"split", "split", "split", "recv c1<1",
                                "send c2>1", "recv c3<0", "send c3>0"}));
}

TEST_F(OnVirtualGpus, TheBubbleIsTheSchedulesExactly) {
  for (const uint32_t ranks : {1u, 2u, 4u, 8u}) {
    for (const auto& module :
         {test::GPipe(ranks, 8), test::OneFOneB(ranks, 8)}) {
      Gpus(ranks);
      const RunResult result = Run(module, {{"f", "1ms"}, {"b", "2ms"}});
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      for (const launch::StepRecord& step : result.steps) {
        EXPECT_DOUBLE_EQ(step.summary.bubble_fraction,
                         (ranks - 1.) / (8 + ranks - 1.));
      }
      for (const engine::MemoryReport& memory : result.memory) {
        EXPECT_EQ(memory.peak_measured, memory.peak_predicted);
      }
    }
  }
}

TEST_F(OnVirtualGpus, TransfersTakeTheirTimeAndAreInTheTrace) {
  Gpus(2);
  nccl_->transfer_ns = 100'000;
  const RunResult result = Run(test::GPipe(2, 4), {{"f", "1ms"}, {"b", "2ms"}},
                               {.steps = 1, .trace = true});
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  uint32_t transfers = 0;
  for (const trace::RankTrace& trace : result.traces) {
    for (const trace::Event& event : trace) {
      if (event.kind != trace::EventKind::kTransfer) continue;
      ++transfers;
      EXPECT_GE(event.end_ns - event.begin_ns, 100'000);
    }
  }
  EXPECT_EQ(transfers, 16u);
}

// Only what the bytecode groups is a group.
TEST_F(OnVirtualGpus, GroupsAreThoseOfTheBytecode) {
  Gpus(2);
  ASSERT_TRUE(Run(test::OneFOneB(2, 4)).status.ok());
  for (uint32_t rank : {0u, 1u}) {
    const Calls calls = nccl_->Calls(rank);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "group"), 0);
  }
}

// Both ranks send on one lane before they receive: the textbook hang, and the
// same as a group, which is none.
class Crossing : public OnVirtualGpus {
 protected:
  static bytecode::Module Program(bool grouped) {
    auto module = test::GPipe(2, 1);
    for (uint32_t rank : {0u, 1u}) {
      auto& program = module.programs[rank];
      const auto kind =
          rank == 0 ? bytecode::Payload::kAct : bytecode::Payload::kGrad;
      const auto other =
          rank == 0 ? bytecode::Payload::kGrad : bytecode::Payload::kAct;
      const Rank peer(1 - rank);
      program = {};
      program.chunks = {{StageId(rank), 0}};
      program.slots = 2;
      const auto add = [&](const auto& instr) {
        program.code.push_back(instr.Pack());
      };
      // Two buffers to exchange, each received from the peer's first exchange.
      const auto exchange = [&](bool in_group) {
        if (in_group) add(op::GroupBegin{});
        add(op::Send{peer, LaneId(0), SlotId(0), kind, StageId(rank),
                     MicroBatch(0)});
        if (!in_group) add(op::Wait{SlotId(0)});
        add(op::Recv{peer, LaneId(0), SlotId(1), other, StageId(1 - rank),
                     MicroBatch(0)});
        if (in_group) add(op::GroupEnd{});
        if (in_group) add(op::Wait{SlotId(0)});
        add(op::Wait{SlotId(1)});
      };
      // Something to send: what the peer sends in a first, orderly exchange.
      if (rank == 0) {
        program.stashes = 1;
        add(op::Forward{ChunkId(0), MicroBatch(0), bytecode::kNoSlot, SlotId(0),
                        StashId(0)});
      } else {
        program.stashes = 1;
        add(op::Recv{peer, LaneId(1), SlotId(1), other, StageId(0),
                     MicroBatch(0)});
        add(op::Wait{SlotId(1)});
        add(op::Forward{ChunkId(0), MicroBatch(0), SlotId(1), bytecode::kNoSlot,
                        StashId(0)});
        add(op::Free{SlotId(1)});
        add(op::Backward{ChunkId(0), MicroBatch(0), bytecode::kNoSlot,
                         SlotId(0), StashId(0)});
      }
      if (rank == 0) {
        add(op::Send{peer, LaneId(1), SlotId(0), kind, StageId(0),
                     MicroBatch(0)});
        add(op::Wait{SlotId(0)});
      }
      exchange(grouped);
      add(op::Free{SlotId(0)});
      add(op::Free{SlotId(1)});
    }
    return module;
  }
};

TEST_F(Crossing, SendsOnOneLaneHangTheGpusAndTheRunEnds) {
  Gpus(2);
  const RunResult result =
      Run(Program(false), {}, {.steps = 1, .timeout = milliseconds(200)});
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_FALSE(result.abandoned);
  EXPECT_NE(
      result.status.message().find("ranks 0, 1 wait for each other: rank 0 "
                                   "waits for a receiver of act s0 m0"),
      std::string::npos)
      << result.status.message();
  EXPECT_GT(nccl_->aborts(), 0u);
  EXPECT_EQ(nccl_->live_communicators(), 0u);
}

TEST_F(Crossing, TheSameAsAGroupRuns) {
  Gpus(2);
  const RunResult result = Run(Program(true), {}, {.steps = 2});
  EXPECT_TRUE(result.status.ok()) << result.status.message();
  const Calls calls = nccl_->Calls(0);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "group"), 2);
  EXPECT_EQ(nccl_->aborts(), 0u);
}

TEST_F(OnVirtualGpus, ARankThatFailsEndsTheOthersAndNothingIsLeft) {
  Gpus(4);
  const RunResult result = Run(test::OneFOneB(4, 8), {{"fail", "2:F3"}});
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_NE(result.status.message().find("rank 2"), std::string::npos);
  EXPECT_FALSE(result.abandoned);
  EXPECT_EQ(nccl_->live_communicators(), 0u);
  EXPECT_EQ(fake_->live_objects(), 0u);
}

TEST_F(OnVirtualGpus, AnOrderlyEndAbortsNothing) {
  Gpus(4);
  ASSERT_TRUE(Run(test::OneFOneB(4, 8)).status.ok());
  EXPECT_EQ(nccl_->aborts(), 0u);
  EXPECT_EQ(nccl_->live_communicators(), 0u);
  EXPECT_EQ(fake_->live_objects(), 0u);
}

TEST(Endpoint, WithoutAGpuItSaysWhatIsNeeded) {
  auto fake = std::make_shared<test::FakeDevice>();
  auto ends =
      CreateLocal(std::make_shared<test::FakeNccl>(fake), FullPlan(2, 1), 2);
  ASSERT_TRUE(ends);
  const Status status = (*ends)[0]->GroupBegin();
  EXPECT_EQ(status.message(), "--transport nccl needs --device cuda");
}

}  // namespace
}  // namespace pp::transport::nccl
