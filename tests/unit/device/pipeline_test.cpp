// Whole runs on a virtual GPU: virtual time is exact, so the bubble is the
// schedule's to the last digit, and every missing order is a race that fails.
#include <gtest/gtest.h>

#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/launch/run_threads.h"
#include "runtime/transport/inproc/inproc.h"
#include "tests/support/fake_device.h"
#include "tests/support/programs.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using Pairs = std::vector<std::pair<std::string, std::string>>;

class VirtualGpu : public testing::Test {
 protected:
  RunResult Run(const bytecode::Module& module, const Pairs& options,
                RunOptions run = {.steps = 3}) {
    run.on_step = [this](const StepRecord&) { fake_->Meet(); };
    auto factory = engine::synthetic::CreateFactory();
    engine::EngineConfig config;
    config.device = "cuda";
    config.driver = fake_;
    config.options = options;
    const Status status = factory->Prepare(module, config);
    EXPECT_TRUE(status.ok()) << status.message();
    return RunThreads(module, *factory,
                      transport::inproc::Create(module.ranks()), run);
  }

  std::shared_ptr<test::FakeDevice> fake_ =
      std::make_shared<test::FakeDevice>();
};

TEST_F(VirtualGpu, TheBubbleIsTheSchedulesExactly) {
  for (const uint32_t ranks : {2u, 4u, 8u, 16u}) {
    for (const uint32_t mbs : {1u, 4u, 16u}) {
      const auto module = test::GPipe(ranks, mbs);
      const RunResult result =
          Run(module, {{"f", "1ms"}, {"b", "2ms"}, {"msg", "4KiB"}});
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      ASSERT_EQ(result.steps.size(), 3u);
      for (const StepRecord& step : result.steps) {
        EXPECT_DOUBLE_EQ(step.summary.bubble_fraction,
                         (ranks - 1.) / (mbs + ranks - 1.));
        EXPECT_EQ(step.summary.makespan_ns, 3'000'000 * (mbs + ranks - 1));
      }
    }
  }
}

TEST_F(VirtualGpu, OneFOneBKeepsItsBubbleAndItsMemory) {
  const auto module = test::OneFOneB(4, 8);
  const RunResult result = Run(
      module, {{"f", "1ms"}, {"b", "2ms"}, {"msg", "4KiB"}, {"act", "1MiB"}});
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_DOUBLE_EQ(result.steps.back().summary.bubble_fraction, 3. / 11);
  EXPECT_EQ(result.steps.back().peak_activations,
            module.facts.peak_activations);
  for (const engine::MemoryReport& memory : result.memory) {
    EXPECT_EQ(memory.peak_measured, memory.peak_predicted);
  }
}

TEST_F(VirtualGpu, SeveralGpusCopyAndAgree) {
  fake_ = std::make_shared<test::FakeDevice>(3);
  const auto module = test::OneFOneB(4, 8);
  const RunResult result = Run(module, {{"f", "1ms"}, {"b", "2ms"}});
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_DOUBLE_EQ(result.steps.back().summary.bubble_fraction, 3. / 11);
  EXPECT_EQ(fake_->copies(), 3u * 2 * 3 * 8);  // steps, ways, edges, mbs
}

TEST_F(VirtualGpu, CopiesTakeTheirTimeAndAreInTheTrace) {
  fake_ = std::make_shared<test::FakeDevice>(2);
  fake_->CopyNsPerByte = 1'000;
  const auto module = test::GPipe(2, 4);
  const RunResult result =
      Run(module, {{"f", "1ms"}, {"b", "2ms"}, {"msg", "100"}},
          {.steps = 1, .trace = true});
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  // These programs receive just before they compute: no copy is hidden.
  EXPECT_EQ(result.steps[0].summary.makespan_ns, 15'000'000 + 8 * 100'000);
  uint32_t copies = 0;
  for (const trace::RankTrace& trace : result.traces) {
    for (const trace::Event& event : trace) {
      if (event.kind != trace::EventKind::kTransfer) continue;
      copies += event.end_ns - event.begin_ns == 100'000 ? 1 : 0;
    }
  }
  EXPECT_EQ(copies, 8u);
}

TEST_F(VirtualGpu, LossesAreThoseOfTheCpu) {
  const auto module = test::OneFOneB(4, 8);
  const RunResult result = Run(module, {});
  auto factory = engine::synthetic::CreateFactory();
  engine::EngineConfig config;
  config.options = {{"f", "0"}, {"i", "0"}, {"w", "0"}};
  ASSERT_TRUE(factory->Prepare(module, config).ok());
  const RunResult cpu =
      RunThreads(module, *factory, transport::inproc::Create(module.ranks()),
                 {.steps = 3});
  ASSERT_TRUE(result.status.ok() && cpu.status.ok());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.steps[i].loss, cpu.steps[i].loss);
  }
}

TEST_F(VirtualGpu, AWrongInputIsFoundAtTheEndOfTheStep) {
  auto module = test::GPipe(2, 2);
  // Rank 1 takes its first input for the second, and so on; rank 0 goes along.
  for (uint32_t rank : {0u, 1u}) {
    for (bytecode::Instr& instr : module.programs[rank].code) {
      if (rank == 1 && instr.op == bytecode::Opcode::kForward) {
        auto forward = bytecode::op::Forward::Of(instr);
        forward.mb = MicroBatch(1 - forward.mb.value);
        instr = forward.Pack();
      } else if (instr.op == bytecode::Opcode::kBackward) {
        auto backward = bytecode::op::Backward::Of(instr);
        backward.mb = MicroBatch(1 - backward.mb.value);
        if (rank == 0) backward.stash = StashId(1 - backward.stash.value);
        instr = backward.Pack();
      }
    }
  }
  const RunResult result = Run(module, {});
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_NE(result.status.message().find(
                "end of step 0: F of chunk 0, micro-batch 1: needs `act s0 m1` "
                "of step 0, its input is `act s0 m0` of step 0"),
            std::string::npos)
      << result.status.message();
}

TEST_F(VirtualGpu, AGpuThatStandsStillIsAHangWithItsPlace) {
  const auto module = test::GPipe(2, 4);
  fake_->StallAfter(1'000'000'000 + 4'500'000);  // in F3 of rank 0
  const RunResult result = Run(module, {{"f", "1ms"}, {"b", "2ms"}},
                               {.steps = 1, .timeout = milliseconds(100)});
  EXPECT_FALSE(result.status.ok());
  EXPECT_FALSE(result.abandoned);
  ASSERT_EQ(result.positions.size(), 2u);
  EXPECT_NE(result.positions[1].find("`forward c0 m3"), std::string::npos)
      << result.positions[1];
}

TEST_F(VirtualGpu, NoMemoryOnTheGpuNamesTheInstruction) {
  // A GPU each: what one rank takes cannot keep the other from starting.
  fake_ = std::make_shared<test::FakeDevice>(2);
  fake_->LimitMemory(3000);
  const auto module = test::GPipe(2, 8);
  const RunResult result = Run(module, {{"msg", "1KiB"}});
  EXPECT_FALSE(result.status.ok());
  const std::string& said = result.status.message();
  EXPECT_NE(said.find("no 1024 bytes on the device"), std::string::npos)
      << said;
  EXPECT_NE(said.find("`"), std::string::npos) << said;
  EXPECT_FALSE(result.abandoned);
}

TEST_F(VirtualGpu, NothingIsLeftAfterARunOrAFailure) {
  ASSERT_TRUE(Run(test::OneFOneB(4, 8), {}).status.ok());
  EXPECT_EQ(fake_->live_objects(), 0u);
  EXPECT_FALSE(Run(test::OneFOneB(4, 8), {{"fail", "2:F3"}}).status.ok());
  EXPECT_EQ(fake_->live_objects(), 0u);
}

}  // namespace
}  // namespace pp::launch
