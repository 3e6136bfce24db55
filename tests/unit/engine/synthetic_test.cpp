#include "runtime/engine/synthetic/synthetic.h"

#include <gtest/gtest.h>

#include <chrono>

#include "runtime/engine/synthetic/options.h"
#include "runtime/engine/synthetic/predict.h"
#include "tests/support/programs.h"

namespace pp::engine::synthetic {
namespace {

using bytecode::Payload;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// ---- Options ----

TEST(Options, ParsesDurationsSizesFactorsAndFaults) {
  const auto options = ParseOptions({{"f", "1.5ms"},
                                     {"i", "250us"},
                                     {"w", "1s"},
                                     {"msg", "64KiB"},
                                     {"act", "1.5MiB"},
                                     {"s2", "0.5"},
                                     {"fail", "2:F3"}});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->forward, 1'500'000);
  EXPECT_EQ(options->input, 250'000);
  EXPECT_EQ(options->BackwardNs(), 1'000'250'000);  // I + W unless given
  EXPECT_EQ(options->message, 65536u);
  EXPECT_EQ(options->AfterInput(), 1572864u);
  EXPECT_EQ(options->stage_factor.at(2), 0.5);
  EXPECT_EQ(options->fail, (Fault{Rank(2), 'F', MicroBatch(3)}));
}

TEST(Options, ABadValueIsUsageAndNamesThePair) {
  const Pairs bad = {{"f", "10"},      {"f", "-1ms"},  {"f", "nanms"},
                     {"f", "1e99s"},   {"msg", "1KB"}, {"act", ""},
                     {"s1", "x"},      {"s1", "1e9"},  {"fail", "2F3"},
                     {"fail", "2:X3"}, {"fail", "2:F"}};
  for (const auto& [name, value] : bad) {
    const auto options = ParseOptions({{name, value}});
    ASSERT_FALSE(options) << name << "=" << value;
    EXPECT_EQ(options.error().code(), StatusCode::kUsage);
    EXPECT_NE(options.error().message().find("'" + name + "=" + value + "'"),
              std::string::npos)
        << options.error().message();
  }
}

TEST(Options, AnUnknownNameGetsASuggestion) {
  const auto options = ParseOptions({{"mgs", "64"}});
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().message().find("`msg`"), std::string::npos)
      << options.error().message();
}

// ---- The engine, called by hand ----

class SyntheticEngine : public testing::Test {
 protected:
  void Open(const Pairs& options, uint32_t batch = 0) {
    factory_ = CreateFactory();
    EngineConfig config;
    config.options = {{"f", "0"}, {"i", "0"}, {"w", "0"}};
    config.options.insert(config.options.end(), options.begin(), options.end());
    config.batch = batch;
    ASSERT_TRUE(factory_->Prepare(module_, config).ok());
    for (uint32_t r = 0; r < module_.ranks(); ++r) {
      engines_.push_back(*factory_->Create(Rank(r)));
      ASSERT_TRUE(engines_[r]->BeginStep(3).ok());
    }
  }

  Work At(uint32_t mb, const Buffer* in, Buffer* out) {
    return {ChunkId(0), MicroBatch(mb), StashId(mb), in, out};
  }

  bytecode::Module module_ = test::GPipe(2, 4);
  std::unique_ptr<EngineFactory> factory_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

TEST_F(SyntheticEngine, PassesTheRightMessages) {
  Open({});
  Buffer act, grad;
  ASSERT_TRUE(engines_[0]->Forward(At(1, nullptr, &act)).ok());
  ASSERT_TRUE(engines_[1]->Forward(At(1, &act, nullptr)).ok());
  ASSERT_TRUE(engines_[1]->Backward(At(1, nullptr, &grad)).ok());
  EXPECT_TRUE(engines_[0]->Backward(At(1, &grad, nullptr)).ok());
}

TEST_F(SyntheticEngine, RefusesTheWrongMessage) {
  Open({});
  Buffer act;
  ASSERT_TRUE(engines_[0]->Forward(At(1, nullptr, &act)).ok());
  const Status status = engines_[1]->Forward(At(2, &act, nullptr));
  EXPECT_EQ(status.message(),
            "needs `act s0 m2` of step 3, its input is `act s0 m1` of step 3");
  ASSERT_TRUE(engines_[1]->BeginStep(4).ok());
  EXPECT_FALSE(engines_[1]->Forward(At(1, &act, nullptr)).ok());  // old step
  EXPECT_FALSE(engines_[1]->Forward(At(1, nullptr, nullptr)).ok());
  EXPECT_FALSE(engines_[0]->Forward(At(1, &act, nullptr)).ok());
}

TEST_F(SyntheticEngine, RefusesABackwardOfAnotherForward) {
  Open({});
  ASSERT_TRUE(engines_[0]->Forward(At(0, nullptr, nullptr)).ok());
  Work other = At(1, nullptr, nullptr);
  other.stash = StashId(0);
  EXPECT_FALSE(engines_[0]->Backward(other).ok());
  EXPECT_FALSE(engines_[0]->BackwardWeight(At(0, nullptr, nullptr)).ok());
}

TEST_F(SyntheticEngine, AnOperationTakesItsTimeTimesTheFactorOfItsStage) {
  Open({{"f", "4ms"}, {"s1", "3"}});
  Buffer act;
  const auto t0 = std::chrono::steady_clock::now();
  ASSERT_TRUE(engines_[0]->Forward(At(0, nullptr, &act)).ok());
  const auto t1 = std::chrono::steady_clock::now();
  ASSERT_TRUE(engines_[1]->Forward(At(0, &act, nullptr)).ok());
  const auto t2 = std::chrono::steady_clock::now();
  EXPECT_GE(t1 - t0, std::chrono::milliseconds(4));
  EXPECT_GE(t2 - t1, std::chrono::milliseconds(12));
}

TEST_F(SyntheticEngine, LossIsTheSameForEverySplitOfTheBatch) {
  std::vector<double> means;
  for (const uint32_t m : {1u, 4u, 7u}) {
    module_ = test::GPipe(1, m);
    engines_.clear();
    Open({}, 10);
    double sum = 0;
    for (uint32_t mb = 0; mb < m; ++mb) {
      ASSERT_TRUE(engines_[0]->Forward(At(mb, nullptr, nullptr)).ok());
    }
    for (const auto& [mb, loss] : engines_[0]->Losses()) sum += loss;
    means.push_back(sum / engines_[0]->LossUnits());
  }
  EXPECT_GT(means[0], 0);
  EXPECT_EQ(means[0], means[1]);
  EXPECT_EQ(means[0], means[2]);
}

TEST_F(SyntheticEngine, CountsMessagesAndActivations) {
  Open({{"msg", "1000"}, {"act", "50"}, {"act_after_i", "20"}});
  Buffer act;
  ASSERT_TRUE(engines_[0]->Forward(At(0, nullptr, &act)).ok());
  EXPECT_EQ(engines_[0]->Memory().peak_measured, 1050u);
  // The receiver counts the same bytes as its own; the sender still does.
  Buffer received = act;
  engines_[1]->Adopt(received);
  EXPECT_EQ(engines_[1]->Memory().peak_measured, 1000u);
  ASSERT_TRUE(engines_[1]->Forward(At(0, &received, nullptr)).ok());
  ASSERT_TRUE(engines_[1]->BackwardInput(At(0, nullptr, nullptr)).ok());
  act = received = Buffer{};
  ASSERT_TRUE(engines_[0]->BeginStep(4).ok());
  ASSERT_TRUE(engines_[1]->BeginStep(4).ok());
  EXPECT_EQ(engines_[0]->Memory().peak_measured, 50u);
  EXPECT_EQ(engines_[1]->Memory().peak_measured, 20u);
}

TEST_F(SyntheticEngine, ADrillFailsAtItsOperationOnly) {
  Open({{"fail", "0:F2"}});
  EXPECT_TRUE(engines_[0]->Forward(At(1, nullptr, nullptr)).ok());
  EXPECT_FALSE(engines_[0]->Forward(At(2, nullptr, nullptr)).ok());
}

TEST(SyntheticFactory, RefusesWhatDoesNotFitTheSchedule) {
  const bytecode::Module module = test::GPipe(2, 4);
  const auto refused = [&](const EngineConfig& config) {
    const Status status = CreateFactory()->Prepare(module, config);
    EXPECT_EQ(status.code(), StatusCode::kUsage);
    return status.message();
  };
  EngineConfig config;
  config.batch = 3;
  EXPECT_EQ(refused(config),
            "a batch of 3 rows cannot be split into 4 micro-batches");
  config = {};
  config.options = {{"s2", "2"}};
  EXPECT_EQ(refused(config), "option 's2=2': the schedule has stages 0..1");
  config.options = {{"hang", "2:F0"}};
  EXPECT_NE(refused(config).find("ranks 0..1"), std::string::npos);
  config = {};
  config.device = "cuda";
  EXPECT_NE(refused(config).find("cpu"), std::string::npos);
}

TEST(SyntheticFactory, HasNoMathematicsToVerify) {
  const auto reference = CreateFactory()->CreateReference();
  ASSERT_FALSE(reference);
  EXPECT_EQ(reference.error().code(), StatusCode::kUsage);
}

// ---- Predicted memory ----

TEST(PredictPeak, FollowsSlotsAndStashes) {
  // GPipe rank 0: 3 activations alive, and every output unfreed until the
  // end, where sends are waited for; the gradients come one at a time.
  const bytecode::Module module = test::GPipe(2, 3);
  EXPECT_EQ(PredictPeak(module.programs[0], {10, 1000, 1000}), 3000u + 30 + 10);
  // Split backward: the last rank holds halves until the end.
  const bytecode::Module split = test::SplitGPipe(2, 3);
  EXPECT_EQ(PredictPeak(split.programs[1], {0, 100, 150}), 450u);
}

}  // namespace
}  // namespace pp::engine::synthetic
