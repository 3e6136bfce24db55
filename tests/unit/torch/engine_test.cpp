#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "runtime/engine/torch/tensor_buffer.h"
#include "tests/unit/torch/pipeline_harness.h"
#include "tests/unit/torch/toy_model.h"

namespace pp::engine::torch_engine {
namespace {

std::string TextFile() {
  static const std::string path = [] {
    const std::string made = ::testing::TempDir() + "engine_test_text";
    std::ofstream out(made, std::ios::binary);
    for (int i = 0; i < 400; ++i) {
      out << i << " in the beginning God created the heaven and the earth. ";
    }
    return made;
  }();
  return path;
}

EngineConfig SmallGpt(bool tie = false) {
  EngineConfig config;
  config.model = "gpt";
  config.options = {{"layers", "4"},
                    {"dim", "16"},
                    {"heads", "2"},
                    {"context", "8"},
                    {"tie", tie ? "1" : "0"}};
  config.data = TextFile();
  config.batch = 8;
  config.seed = 11;
  return config;
}

EngineConfig ToyConfig(uint32_t batch) {
  EngineConfig config;
  config.model = "toy";
  config.batch = batch;
  config.optimizer = "sgd";
  return config;
}

// Steps both and compares every bit, so also the optimizer.
void ExpectEqualsReference(Plan plan, const EngineConfig& config) {
  Pipeline pipeline(std::move(plan), config);
  for (uint64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(pipeline.Step(step), pipeline.ReferenceStep(step));
    EXPECT_EQ(pipeline.GradientsNow(), pipeline.ReferenceGradients());
    EXPECT_TRUE(pipeline.reference().Update().ok());
  }
}

TEST(TorchEngineTest, GpipeEqualsReference) {
  for (uint32_t ranks : {1u, 2u, 4u}) {
    ExpectEqualsReference(GpipePlan(ranks, 4), SmallGpt());
  }
}

TEST(TorchEngineTest, OneFOneBEqualsReference) {
  ExpectEqualsReference(OneFOneBPlan(4, 8, false), SmallGpt());
}

TEST(TorchEngineTest, SplitBackwardEqualsReference) {
  ExpectEqualsReference(OneFOneBPlan(4, 8, true), SmallGpt());
  ExpectEqualsReference(OneFOneBPlan(2, 3, true), SmallGpt(true));
}

TEST(TorchEngineTest, UnevenMicroBatchesEqualReference) {
  ExpectEqualsReference(OneFOneBPlan(2, 3, false), SmallGpt());
  ExpectEqualsReference(OneFOneBPlan(4, 5, true), SmallGpt());
}

TEST(TorchEngineTest, TiedWeightsEqualReference) {
  ExpectEqualsReference(GpipePlan(1, 4), SmallGpt(true));
  ExpectEqualsReference(GpipePlan(4, 4), SmallGpt(true));
}

TEST(TorchEngineTest, TiedWeightsOnOneRankAreOneTensorAndTheSameSums) {
  Pipeline pipeline(VeePlan(4), SmallGpt(true));
  Pipeline untied(VeePlan(4), SmallGpt(false));
  EXPECT_EQ(
      untied.engine(0).Memory().weights - pipeline.engine(0).Memory().weights,
      256u * 16u * sizeof(float));
  ExpectEqualsReference(VeePlan(4), SmallGpt(true));
}

TEST(TorchEngineTest, MlpEqualsReference) {
  EngineConfig config;
  config.model = "mlp";
  config.options = {{"layers", "5"}, {"dim", "7"}};
  config.batch = 9;
  config.optimizer = "sgd";
  ExpectEqualsReference(OneFOneBPlan(4, 4, true), config);
}

// The same batch and seed give the same loss whatever P and M; gradients
// differ by rounding where M does.
TEST(TorchEngineTest, LossAndGradientsDoNotDependOnM) {
  Pipeline one(GpipePlan(1, 1), SmallGpt());
  const double loss = one.Step(0);
  const Gradients whole = one.GradientsNow();
  for (uint32_t m : {3u, 8u}) {
    Pipeline many(OneFOneBPlan(2, m, true), SmallGpt());
    EXPECT_NEAR(many.Step(0), loss, 1e-6);
    for (const auto& [name, values] : many.GradientsNow()) {
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], whole.at(name)[i], 1e-5) << name;
      }
    }
  }
}

TEST(TorchEngineTest, LossFalls) {
  EngineConfig config = SmallGpt();
  config.learning_rate = 1e-2;
  Pipeline pipeline(OneFOneBPlan(2, 4, false), config);
  const double first = pipeline.Step(0);
  EXPECT_NEAR(first, std::log(256.0), 0.2);  // knows nothing yet
  double last = first;
  for (uint64_t step = 1; step < 60; ++step) last = pipeline.Step(step);
  EXPECT_LT(last, first - 2.0);
}

TEST(TorchEngineTest, RunsAreBitwiseReproducible) {
  Pipeline a(OneFOneBPlan(2, 4, true), SmallGpt());
  Pipeline b(OneFOneBPlan(2, 4, true), SmallGpt());
  for (uint64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(a.Step(step), b.Step(step));
  }
  EXPECT_EQ(a.GradientsNow(), b.GradientsNow());
}

// h = a x, y = b h, loss (y - 1)^2 / 2 a row; a = 3, b = 2; x = 1..8 in three
// micro-batches of 3, 3 and 2 rows. The mean of the micro-batches' means
// would be 492.5.
TEST(TorchEngineTest, UnevenMicroBatchesOfTheToyModel) {
  for (const Plan& plan :
       {GpipePlan(2, 3), OneFOneBPlan(2, 3, false), OneFOneBPlan(2, 3, true)}) {
    Pipeline pipeline(plan, ToyConfig(8), ToyModel({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_DOUBLE_EQ(pipeline.Step(0), 432.5);
    const Gradients gradients = pipeline.GradientsNow();
    EXPECT_FLOAT_EQ(gradients.at("a")[0], 297);
    EXPECT_FLOAT_EQ(gradients.at("b")[0], 445.5);
  }
}

// Two micro-batches of one row; sums over them are da 1190 and db 1785.
TEST(TorchEngineTest, GradientsAreScaledOnce) {
  Pipeline pipeline(GpipePlan(2, 2), ToyConfig(2), ToyModel({1, 10}));
  pipeline.SetBeforeTail([&] {
    const Gradients sums = pipeline.GradientsNow();
    EXPECT_FLOAT_EQ(sums.at("a")[0], 1190);
    EXPECT_FLOAT_EQ(sums.at("b")[0], 1785);
  });
  EXPECT_DOUBLE_EQ(pipeline.Step(0), 876.5);
  EXPECT_FLOAT_EQ(pipeline.GradientsNow().at("a")[0], 595);
  EXPECT_FLOAT_EQ(pipeline.GradientsNow().at("b")[0], 892.5);
  const Status again = pipeline.engine(0).Scale(ChunkId(0));
  EXPECT_EQ(again.code(), StatusCode::kInput);
  EXPECT_NE(again.message().find("scaled twice"), std::string::npos);
}

// ---- What a program may not do ----

TEST(TorchEngineTest, MistakenProgramsAreErrors) {
  Pipeline pipeline(GpipePlan(2, 2), SmallGpt());
  TorchEngine& engine = pipeline.engine(1);
  ASSERT_TRUE(engine.BeginStep(0).ok());
  Work work{ChunkId(0), MicroBatch(0), StashId(0)};
  Buffer out;
  EXPECT_NE(engine.Forward(work).message().find("misses an input"),
            std::string::npos);
  auto small =
      engine.Allocate(bytecode::Payload::kAct, StageId(0), MicroBatch(0));
  ASSERT_TRUE(small);
  small->bytes -= 4;
  work.in = &*small;
  EXPECT_NE(engine.Forward(work).message().find("expected 2048"),
            std::string::npos);
  small->bytes += 4;
  ASSERT_TRUE(engine.Forward(work).ok());
  EXPECT_NE(engine.Forward(work).message().find("still holds"),
            std::string::npos);
  work.in = nullptr;
  EXPECT_NE(engine.BackwardWeight(work).message().find("has not run yet"),
            std::string::npos);
  work.out = &out;
  ASSERT_TRUE(engine.BackwardInput(work).ok());
  EXPECT_NE(engine.BackwardInput(work).message().find("has run already"),
            std::string::npos);
  EXPECT_NE(engine.BeginStep(1).message().find("never ran"), std::string::npos);
  work.stash = StashId(9);
  EXPECT_NE(engine.Forward(work).message().find("out of range"),
            std::string::npos);
  EXPECT_NE(engine.Update(ChunkId(0)).message().find("before scale"),
            std::string::npos);
  EXPECT_FALSE(engine.Scale(ChunkId(7)).ok());
  EXPECT_FALSE(
      engine.Allocate(bytecode::Payload::kAct, StageId(9), MicroBatch(0)));
}

// A transport may receive into memory of its own.
TEST(TorchEngineTest, ForeignBuffersAreRead) {
  Pipeline pipeline(GpipePlan(2, 1), SmallGpt());
  TorchEngine& engine = pipeline.engine(1);
  ASSERT_TRUE(engine.BeginStep(0).ok());
  auto memory = std::make_shared<std::vector<float>>(8 * 8 * 16, 0.5f);
  Buffer in{reinterpret_cast<std::byte*>(memory->data()),
            memory->size() * sizeof(float), memory};
  EXPECT_EQ(TensorOf(in), nullptr);
  engine.Adopt(in);
  Work work{ChunkId(0), MicroBatch(0), StashId(0), &in};
  ASSERT_TRUE(engine.Forward(work).ok());
  in = {};
  EXPECT_GT(memory.use_count(), 1);  // the stash keeps what backward needs
  Buffer out;
  work.in = nullptr;
  work.out = &out;
  ASSERT_TRUE(engine.Backward(work).ok());
  EXPECT_EQ(memory.use_count(), 1);
}

// ---- Prepare ----

Status Prepare(const Plan& plan, const EngineConfig& config) {
  return TorchEngineFactory().Prepare(ModuleOf(plan), config);
}

TEST(TorchFactoryTest, ChecksBeforeAnyRankStarts) {
  EXPECT_TRUE(Prepare(GpipePlan(2, 2), SmallGpt()).ok());
  const auto message = [](const Plan& plan, auto change) {
    EngineConfig config = SmallGpt();
    change(config);
    return Prepare(plan, config).message();
  };
  const Plan plan = GpipePlan(2, 4);
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message(GpipePlan(8, 2), [](auto&) {}), "8 stages");
  has(message(plan, [](auto& c) { c.batch = 3; }), "3 rows");
  has(message(plan, [](auto& c) { c.batch = 1u << 30; }), "at most");
  has(message(plan, [](auto& c) { c.batch = 1u << 20; }), "needs at least");
  has(message(plan, [](auto& c) { c.device = "cuda"; }), "cuda");
  has(message(plan, [](auto& c) { c.optimizer = "adam"; }),
      "did you mean `adamw`");
  has(message(plan, [](auto& c) { c.learning_rate = NAN; }), "learning rate");
  has(message(plan,
              [](auto& c) {
                c.options.push_back({"dims", "4"});
              }),
      "did you mean `dim`");
  has(message(plan, [](auto& c) { c.data = ""; }), "--data");
}

TEST(TorchFactoryTest, CreateNeedsPrepare) {
  TorchEngineFactory factory;
  EXPECT_FALSE(factory.Create(Rank(0)));
  EXPECT_FALSE(factory.CreateReference());
  ASSERT_TRUE(factory.Prepare(ModuleOf(GpipePlan(2, 2)), SmallGpt()).ok());
  EXPECT_TRUE(factory.Create(Rank(1)));
  EXPECT_FALSE(factory.Create(Rank(2)));
  EXPECT_TRUE(factory.CreateReference());
}

}  // namespace
}  // namespace pp::engine::torch_engine
