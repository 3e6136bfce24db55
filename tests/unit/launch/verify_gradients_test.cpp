#include "runtime/launch/verify_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/faulty_engine.h"

namespace pp::launch {
namespace {

using Gradients = std::vector<std::pair<std::string, std::vector<float>>>;

void Visit(const Gradients& gradients,
           const std::function<void(const engine::GradientView&)>& visit) {
  for (const auto& [name, values] : gradients) {
    visit({name, values.data(), values.size()});
  }
}

class FixedReference : public engine::Reference {
 public:
  FixedReference(double loss, Gradients gradients)
      : loss_(loss), gradients_(std::move(gradients)) {}
  Result<double> Step(uint64_t) override { return loss_; }
  Status Update() override { return OkStatus(); }
  void VisitGradients(const std::function<void(const engine::GradientView&)>&
                          visit) const override {
    Visit(gradients_, visit);
  }

 private:
  double loss_;
  Gradients gradients_;
};

class FixedEngine : public test::HookEngine {
 public:
  explicit FixedEngine(Gradients gradients)
      : HookEngine(Rank(0), nullptr), gradients_(std::move(gradients)) {}
  void VisitGradients(const std::function<void(const engine::GradientView&)>&
                          visit) const override {
    Visit(gradients_, visit);
  }

 private:
  Gradients gradients_;
};

struct Outcome {
  Status status;
  GradientCheck check;
};

Outcome Compare(const Gradients& reference, const std::vector<Gradients>& ranks,
                double loss = 1, double reference_loss = 1) {
  GradientVerifier verifier(
      std::make_unique<FixedReference>(reference_loss, reference));
  std::vector<std::unique_ptr<FixedEngine>> engines;
  std::vector<engine::Engine*> pointers;
  for (const Gradients& gradients : ranks) {
    engines.push_back(std::make_unique<FixedEngine>(gradients));
    pointers.push_back(engines.back().get());
  }
  const Status status = verifier.CompareStep(6, loss, pointers);
  return {status, verifier.check()};
}

TEST(VerifyGradients, EqualBitsOnAllRanks) {
  const auto [status, check] =
      Compare({{"a", {1, 2}}, {"b", {3}}}, {{{"a", {1, 2}}}, {{"b", {3}}}});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(check.compared, 2u);
  EXPECT_EQ(check.elements, 3u);
  EXPECT_TRUE(check.bitwise_equal);
  EXPECT_TRUE(check.losses_equal);
  EXPECT_EQ(check.max_abs_diff, 0);
  EXPECT_EQ(check.max_abs_reference, 3);
  EXPECT_TRUE(check.Close());
}

TEST(VerifyGradients, TheWorstParameterIsNamed) {
  const auto [status, check] =
      Compare({{"a", {1, 2}}, {"b", {3}}}, {{{"a", {1, 2.25}}}, {{"b", {3.5}}}},
              1, 1.5);
  ASSERT_TRUE(status.ok());
  EXPECT_FALSE(check.bitwise_equal);
  EXPECT_EQ(check.max_abs_diff, 0.5);
  EXPECT_EQ(check.worst_parameter, "b");
  EXPECT_EQ(check.worst_step, 6u);
  EXPECT_FALSE(check.losses_equal);
  EXPECT_EQ(check.max_loss_diff, 0.5);
  EXPECT_FALSE(check.Close());
}

TEST(VerifyGradients, RoundingIsClose) {
  const auto [status, check] =
      Compare({{"a", {1000}}}, {{{"a", {1000.0625f}}}});
  EXPECT_FALSE(check.bitwise_equal);
  EXPECT_TRUE(check.Close());
}

TEST(VerifyGradients, ANanIsNotForgotten) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [status, check] =
      Compare({{"a", {1, 1}}, {"b", {1}}}, {{{"a", {nan, 2}}, {"b", {9}}}});
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(std::isnan(check.max_abs_diff));
  EXPECT_EQ(check.worst_parameter, "a");
  EXPECT_FALSE(check.bitwise_equal);
  EXPECT_FALSE(check.Close());
}

TEST(VerifyGradients, AMissingAnExtraAndAMisshapenParameterAreErrors) {
  const Gradients reference = {{"a", {1}}, {"b", {2}}};
  EXPECT_EQ(Compare(reference, {{{"a", {1}}}}).status.message(),
            "the gradient of b is on no rank");
  EXPECT_EQ(Compare(reference, {{{"a", {1}}}, {{"c", {1}}}}).status.message(),
            "rank 1: c is no parameter of the unpipelined run");
  EXPECT_EQ(Compare(reference, {{{"a", {1, 1}}}}).status.message(),
            "rank 0: gradient of a: 2 numbers, the unpipelined run has 1");
}

}  // namespace
}  // namespace pp::launch
