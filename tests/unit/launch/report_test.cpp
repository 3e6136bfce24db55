#include "runtime/launch/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/programs.h"

namespace pp::launch {
namespace {

using nlohmann::json;

StepRecord Step(uint64_t number, double seconds, double fraction) {
  StepRecord step;
  step.step = number;
  step.loss = 2;
  step.seconds = seconds;
  step.summary.makespan_ns = 12'000'000;
  step.summary.bubble_fraction = fraction;
  step.summary.busy_ns = {9'000'000, 8'000'000};
  step.summary.idle_ns = {3'000'000, 4'000'000};
  step.peak_activations = {4, 4};
  step.instructions = {10, 10};
  return step;
}

RunResult SomeResult() {
  RunResult result;
  result.steps = {Step(0, 99, 0.9), Step(1, 1, 0.2), Step(2, 3, 0.4),
                  Step(3, 2, 0.3)};
  result.memory.resize(2);
  result.memory[1].peak_measured = 2048;
  return result;
}

json Report(const bytecode::Module& module, const RunResult& result) {
  Options options;
  options.engine.options = {{"f", "1ms"}};
  return json::parse(
      ReportJson(module, options, result, SummarizeRun(module, result)));
}

TEST(Report, HasEveryKeyThatOthersRelyOn) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  result.gradients = GradientCheck{.steps = 1, .compared = 3};
  const json report = Report(module, result);
  for (const char* key :
       {"schedule", "P", "M", "params", "model", "device", "transport", "steps",
        "bubble_fraction", "bubble_overhead", "bubble_longest_stage",
        "predicted", "ranks", "gradients"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  for (const char* key :
       {"rank", "busy_s", "idle_s", "peak_activations", "peak_bytes_measured",
        "peak_bytes_predicted", "instructions"}) {
    EXPECT_TRUE(report["ranks"][1].contains(key)) << key;
  }
  EXPECT_EQ(report["schedule"], "gpipe");
  EXPECT_EQ(report["params"], (json{{"P", 2}, {"M", 4}}));
  EXPECT_EQ(report["steps"][2]["step_time_s"], 3);
  EXPECT_EQ(report["predicted"]["makespan"], 15);
  EXPECT_EQ(report["gradients"]["compared"], 3);
  EXPECT_EQ(report["gradients"]["bitwise_equal"], true);
  EXPECT_EQ(report["ranks"][1]["peak_bytes_measured"], 2048);
}

TEST(Report, TimesAreMediansWithoutTheFirstStep) {
  const auto module = test::GPipe(2, 4);
  const RunSummary summary = SummarizeRun(module, SomeResult());
  EXPECT_EQ(summary.steps_timed, 3u);
  EXPECT_DOUBLE_EQ(summary.step_time_s, 2);
  EXPECT_DOUBLE_EQ(summary.bubble_fraction, 0.3);
  EXPECT_DOUBLE_EQ(summary.ranks[1].busy_s, 0.008);
  EXPECT_TRUE(summary.peak_mismatches.empty());
}

TEST(Report, OneStepAloneIsTimed) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  result.steps.resize(1);
  EXPECT_DOUBLE_EQ(SummarizeRun(module, result).step_time_s, 99);
}

TEST(Report, APeakThatWasNotPromisedIsLoud) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  result.steps[2].peak_activations[1] = 5;
  const RunSummary summary = SummarizeRun(module, result);
  EXPECT_EQ(summary.peak_mismatches, std::vector<uint32_t>{1});
  EXPECT_NE(ReportTable(module, result, summary)
                .find("WARNING: rank 1 held 5 activations at once, the compile "
                      "promised 4"),
            std::string::npos);
}

TEST(Report, NumbersThatAreNotFiniteAreNull) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  result.steps[0].loss = std::numeric_limits<double>::quiet_NaN();
  result.steps[1].loss = std::numeric_limits<double>::infinity();
  const json report = Report(module, result);
  EXPECT_TRUE(report["steps"][0]["loss"].is_null());
  EXPECT_TRUE(report["steps"][1]["loss"].is_null());
  EXPECT_EQ(report["steps"][2]["loss"], 2);
}

TEST(Report, AFailedRunSaysWhatAndWhere) {
  const auto module = test::GPipe(2, 4);
  RunResult result;
  result.status = RankError("rank 1: broke");
  result.positions = {"rank 0: here", "rank 1: there"};
  const json report = Report(module, result);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["error"], "rank 1: broke");
  EXPECT_EQ(report["positions"].size(), 2u);
  EXPECT_EQ(report["steps"].size(), 0u);
}

TEST(Report, ChunksCountAsTheirShareOfAStage) {
  auto module = test::GPipe(2, 4);
  EXPECT_EQ(StageUnitsPerChunk(module), 1);
  module.stages = 4;  // two chunks a rank
  EXPECT_EQ(StageUnitsPerChunk(module), 0.5);
}

TEST(Report, RanksThatShareCoresAreSaid) {
  const auto module = test::GPipe(2, 4);
  const RunResult result = SomeResult();
  const auto says_shared = [&](uint32_t cores) {
    return ReportTable(module, result, SummarizeRun(module, result), cores)
               .find("2 ranks share 1 core;") != std::string::npos;
  };
  EXPECT_TRUE(says_shared(1));
  EXPECT_FALSE(says_shared(2));
  EXPECT_FALSE(says_shared(0));
}

TEST(Report, TheTableNamesEachConvention) {
  const auto module = test::GPipe(2, 4);
  const RunResult result = SomeResult();
  const std::string table =
      ReportTable(module, result, SummarizeRun(module, result));
  for (const char* part :
       {"gpipe (P=2 M=4)", "idle / (P x makespan)", "idle / work (Megatron-LM)",
        "longest rank (Zero Bubble)", "F=1,B=2,I=1,W=1,comm=0", "2.0 KiB"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
}

TEST(Summary, LeavesOutTheStepsThatWarmUpButNeverAll) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  result.warmup = 2;
  EXPECT_EQ(SummarizeRun(module, result).steps_timed, 2u);
  EXPECT_DOUBLE_EQ(SummarizeRun(module, result).step_time_s, 2.5);
  result.warmup = 0;
  EXPECT_EQ(SummarizeRun(module, result).steps_timed, 4u);
  result.warmup = 9;
  EXPECT_EQ(SummarizeRun(module, result).steps_timed, 1u);
}

TEST(Summary, StepsThatDifferTooMuchAreNoise) {
  const auto module = test::GPipe(2, 4);
  RunResult result = SomeResult();
  for (uint64_t step = 4; step < 9; ++step) {
    result.steps.push_back(Step(step, 1, 0.2));
    result.steps.back().summary.makespan_ns =
        static_cast<int64_t>(10'000'000 + step * 3'000'000);
  }
  const RunSummary summary = SummarizeRun(module, result);
  EXPECT_TRUE(IsNoisy(summary));
  const std::string table = ReportTable(module, result, summary);
  EXPECT_NE(table.find("|    noisy  idle / (P x makespan)"), std::string::npos)
      << table;
  EXPECT_NE(table.find("NOISY: the middle half of 8 steps"), std::string::npos);
  EXPECT_TRUE(Report(module, result)["noisy"]);
  EXPECT_FALSE(IsNoisy(SummarizeRun(module, SomeResult())));
}

}  // namespace
}  // namespace pp::launch
