// Bytes: measured against predicted, and what must not grow.
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "tests/unit/torch/pipeline_harness.h"

namespace pp::engine::torch_engine {
namespace {

EngineConfig Perceptron(uint32_t batch) {
  EngineConfig config;
  config.model = "mlp";
  config.options = {{"layers", "4"}, {"dim", "32"}};
  config.batch = batch;
  return config;
}

constexpr uint64_t kWeights = 4 * (32 * 32 + 32) * sizeof(float);

TEST(LedgerTest, CountsByScopeAndMoves) {
  InstallAllocator();
  const auto a = std::make_shared<Ledger>(), b = std::make_shared<Ledger>();
  at::Tensor t;
  {
    LedgerScope scope(a);
    t = at::empty({100}, at::kFloat);
    at::empty({1000}, at::kFloat);  // gone at once
  }
  EXPECT_EQ(a->live(), 400);
  EXPECT_EQ(a->peak(), 4400);
  MoveToLedger(t.storage(), b);
  EXPECT_EQ(a->live(), 0);
  EXPECT_EQ(b->live(), 400);
  t.reset();
  EXPECT_EQ(b->live(), 0);
}

TEST(MemoryTest, ReportsWeightsGradientsAndOptimizer) {
  Pipeline pipeline(GpipePlan(1, 2), Perceptron(8));
  const MemoryReport report = pipeline.engine(0).Memory();
  EXPECT_EQ(report.weights, kWeights);
  EXPECT_EQ(report.gradients, kWeights);
  EXPECT_EQ(report.optimizer, 2 * kWeights);
}

TEST(MemoryTest, EveryStepEndsWhereItBegan) {
  for (bool split : {false, true}) {
    Pipeline pipeline(OneFOneBPlan(2, 4, split), Perceptron(8));
    pipeline.Step(0);
    const int64_t first = pipeline.engine(0).LiveBytes();
    const int64_t second = pipeline.engine(1).LiveBytes();
    // Weights, gradients, two moments, and the batch of one end.
    EXPECT_EQ(first, static_cast<int64_t>(2 * kWeights) + 8 * 32 * 4);
    pipeline.Step(1);
    EXPECT_EQ(pipeline.engine(0).LiveBytes(), first);
    EXPECT_EQ(pipeline.engine(1).LiveBytes(), second);
  }
}

// On one rank nothing is handed over: the prediction is exact.
TEST(MemoryTest, PredictionIsExactOnOneRank) {
  for (uint32_t m : {1u, 3u, 8u}) {
    for (bool split : {false, true}) {
      Pipeline pipeline(OneFOneBPlan(1, m, split), Perceptron(8));
      pipeline.Step(0);
      const MemoryReport report = pipeline.engine(0).Memory();
      EXPECT_EQ(report.peak_measured, report.peak_predicted) << m << split;
    }
  }
}

// Over ranks it is off by boundary tensors that are on their way.
TEST(MemoryTest, PredictionIsNearOverRanks) {
  Pipeline pipeline(OneFOneBPlan(2, 4, false), Perceptron(64));
  pipeline.Step(0);
  for (uint32_t r : {0u, 1u}) {
    const MemoryReport report = pipeline.engine(r).Memory();
    EXPECT_NEAR(static_cast<double>(report.peak_measured),
                static_cast<double>(report.peak_predicted),
                2.0 * 16 * 32 * sizeof(float));
  }
}

// One gradient a parameter for any M; and at a fixed batch more micro-batches
// never cost more.
TEST(MemoryTest, PeakDoesNotGrowWithM) {
  for (bool split : {false, true}) {
    uint64_t measured = UINT64_MAX, predicted = UINT64_MAX;
    for (uint32_t m : {4u, 8u, 32u}) {
      Pipeline pipeline(OneFOneBPlan(2, m, split), Perceptron(32));
      pipeline.Step(0);
      const MemoryReport report = pipeline.engine(0).Memory();
      EXPECT_EQ(report.gradients, kWeights / 2);
      if (!split) {
        EXPECT_LE(report.peak_measured, measured) << m;
        EXPECT_LE(report.peak_predicted, predicted) << m;
      }
      measured = report.peak_measured;
      predicted = report.peak_predicted;
    }
  }
}

}  // namespace
}  // namespace pp::engine::torch_engine
