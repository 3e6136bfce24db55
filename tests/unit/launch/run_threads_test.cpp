#include "runtime/launch/run_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/transport/inproc/inproc.h"
#include "tests/support/faulty_engine.h"
#include "tests/support/programs.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::unique_ptr<engine::EngineFactory> Synthetic(
    const bytecode::Module& module,
    std::vector<std::pair<std::string, std::string>> options) {
  auto factory = engine::synthetic::CreateFactory();
  engine::EngineConfig config;
  config.options = std::move(options);
  const Status status = factory->Prepare(module, config);
  EXPECT_TRUE(status.ok()) << status.message();
  return factory;
}

std::unique_ptr<engine::EngineFactory> Fast(const bytecode::Module& module) {
  return Synthetic(module, {{"f", "0"}, {"i", "0"}, {"w", "0"}});
}

RunResult RunAll(const bytecode::Module& module, engine::EngineFactory& factory,
                 const RunOptions& options) {
  return RunThreads(module, factory, transport::inproc::Create(module.ranks()),
                    options);
}

TEST(RunThreads, RunsAllStepsOnEightRanks) {
  const auto module = test::OneFOneB(8, 16);
  const auto factory = Fast(module);
  RunOptions options{.steps = 20, .trace = true};
  uint64_t seen = 0;
  options.on_step = [&](const StepRecord& step) {
    EXPECT_EQ(step.step, seen++);
  };
  const RunResult result = RunAll(module, *factory, options);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_FALSE(result.abandoned);
  EXPECT_EQ(seen, 20u);
  ASSERT_EQ(result.steps.size(), 20u);
  for (const StepRecord& step : result.steps) {
    EXPECT_EQ(step.peak_activations, module.facts.peak_activations);
    EXPECT_GT(step.seconds, 0);
  }
  EXPECT_GT(result.steps[0].loss, result.steps[19].loss);
  ASSERT_EQ(result.traces.size(), 8u);
  EXPECT_EQ(result.traces[0].back().step, 19u);
  EXPECT_EQ(result.memory.size(), 8u);
}

// The measured bubble of GPipe is (P-1)/(M+P-1), within three points here: the
// machine that runs the tests may be busy.
TEST(RunThreads, MeasuresTheBubbleOfGPipe) {
  const auto module = test::GPipe(4, 4);
  const auto factory =
      Synthetic(module, {{"f", "10ms"}, {"i", "10ms"}, {"w", "10ms"}});
  const RunResult result = RunAll(module, *factory, {.steps = 3});
  ASSERT_TRUE(result.status.ok());
  double best = 1;
  for (const StepRecord& step : result.steps) {
    best = std::min(best, std::abs(step.summary.bubble_fraction - 3. / 7));
  }
  EXPECT_LT(best, 0.03);
}

TEST(RunThreads, TheFirstErrorWinsAndAllRanksEnd) {
  const auto module = test::GPipe(4, 8);
  const auto factory = Synthetic(
      module, {{"f", "1ms"}, {"i", "1ms"}, {"w", "1ms"}, {"fail", "2:F3"}});
  const auto begin = steady_clock::now();
  const RunResult result = RunAll(module, *factory, {.steps = 5});
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_EQ(result.status.message().rfind("rank 2, step 0, pc ", 0), 0u)
      << result.status.message();
  EXPECT_NE(result.status.message().find("`forward c0 m3 "), std::string::npos);
  EXPECT_FALSE(result.abandoned);
  EXPECT_TRUE(result.steps.empty());
  EXPECT_EQ(result.positions.size(), 4u);
}

TEST(RunThreads, AFailureInALaterStepKeepsTheStepsBefore) {
  const auto module = test::GPipe(2, 2);
  std::atomic<int> forwards{0};
  test::HookFactory factory([&](Rank rank, char operation, const auto&) {
    const bool fails =
        rank == Rank(1) && operation == 'F' && ++forwards == 2 * 3 + 1;
    return fails ? MachineError("no memory") : OkStatus();
  });
  const RunResult result = RunAll(module, factory, {.steps = 10});
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_EQ(result.steps.size(), 3u);
}

TEST(RunThreads, AMessageThatNeverComesEndsByTheWatchdog) {
  const auto module = test::LostMessage(2, 1);
  const auto factory = Fast(module);
  const auto begin = steady_clock::now();
  const RunResult result =
      RunAll(module, *factory, {.steps = 1, .timeout = milliseconds(200)});
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  // Rank 0 waits for its gradient, rank 1 for the activation it never sends.
  EXPECT_NE(result.status.message().find("no progress for 0.2 s: ranks 0, 1 "
                                         "wait for each other"),
            std::string::npos)
      << result.status.message();
  EXPECT_FALSE(result.abandoned);
  ASSERT_EQ(result.positions.size(), 2u);
  EXPECT_NE(result.positions[1].find("waits for act s0 m0 from rank 0"),
            std::string::npos)
      << result.positions[1];
}

TEST(RunThreads, ARankThatCannotBeEndedIsAbandoned) {
  // The detached thread may use these until the process ends: never destroyed.
  static const auto& module = *new bytecode::Module(test::GPipe(2, 1));
  static auto& open = *new std::atomic<bool>(false);
  static auto& factory =
      *new test::HookFactory([](Rank rank, char operation, const auto&) {
        while (rank == Rank(0) && operation == 'F' && !open.load()) {
          std::this_thread::sleep_for(milliseconds(1));
        }
        return OkStatus();
      });
  const RunResult result = RunAll(
      module, factory,
      {.steps = 1, .timeout = milliseconds(50), .grace = milliseconds(50)});
  EXPECT_TRUE(result.abandoned);
  EXPECT_NE(result.status.message().find("rank 0 has been in pc 0 `forward"),
            std::string::npos)
      << result.status.message();
  open = true;
}

TEST(RunThreads, ASignalEndsTheRunWithTheStepsSoFar) {
  const auto module = test::GPipe(2, 2);
  const auto factory = Fast(module);
  std::atomic<bool> stop{false};
  RunOptions options{.steps = 1'000'000'000};
  options.stop_asked = [&] { return stop ? "SIGTERM" : nullptr; };
  options.on_step = [&](const StepRecord& step) { stop = step.step == 4; };
  const RunResult result = RunAll(module, *factory, options);
  EXPECT_EQ(result.status.code(), StatusCode::kRankFailed);
  EXPECT_EQ(result.status.message(),
            "stopped by SIGTERM after 5 complete steps");
  EXPECT_EQ(result.steps.size(), 5u);
  EXPECT_FALSE(result.abandoned);
}

class NoEngine : public test::HookFactory {
 public:
  Result<std::unique_ptr<engine::Engine>> Create(Rank rank) override {
    if (rank == Rank(1)) return Fail(MachineError("no memory"));
    return test::HookFactory::Create(rank);
  }
};

TEST(RunThreads, AnEngineThatCannotBeMadeEndsTheRun) {
  const auto module = test::GPipe(3, 2);
  NoEngine factory;
  const RunResult result = RunAll(module, factory, {.steps = 2});
  EXPECT_EQ(result.status.code(), StatusCode::kMachine);
  EXPECT_EQ(result.status.message(), "rank 1 cannot start: no memory");
}

TEST(RunThreads, VerifyingNeedsAnEngineWithMathematics) {
  const auto module = test::GPipe(2, 2);
  const auto factory = Fast(module);
  const RunResult result =
      RunAll(module, *factory, {.steps = 2, .verify_gradients = true});
  EXPECT_EQ(result.status.code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace pp::launch
