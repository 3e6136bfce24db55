#include "runtime/engine/torch/optimizer.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pp::engine::torch_engine {
namespace {

struct OneWeight {
  models::ParameterStore store{1};
  models::WeightUse* use;

  OneWeight(std::vector<int64_t> shape, double value) {
    use = store.Use({"w", std::move(shape), {0, value}});
  }
  float weight() const { return use->value.flatten()[0].item<float>(); }
};

TEST(OptimizerTest, Sgd) {
  OneWeight w({2}, 3.0);
  const auto sgd = MakeOptimizer({"sgd", 0.5}, w.store);
  w.use->gradient.fill_(2.0);
  sgd->Update(0);
  EXPECT_FLOAT_EQ(w.weight(), 2.0f);
  EXPECT_EQ(sgd->StateBytes(), 0u);
}

// Against the algorithm in double precision.
void CheckAdamW(std::vector<int64_t> shape, double decay) {
  OneWeight w(std::move(shape), 3.0);
  const auto adamw = MakeOptimizer({"adamw", 0.01}, w.store);
  EXPECT_EQ(adamw->StateBytes(), 2 * w.use->value.nbytes());
  double x = 3.0, m = 0, v = 0;
  for (int t = 1; t <= 5; ++t) {
    const double g = 0.3 * t - 0.7;
    w.use->gradient.fill_(g);
    adamw->Update(0);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double m_hat = m / (1 - std::pow(0.9, t));
    const double v_hat = v / (1 - std::pow(0.999, t));
    x = x * (1 - 0.01 * decay) - 0.01 * m_hat / (std::sqrt(v_hat) + 1e-8);
    EXPECT_NEAR(w.weight(), x, 2e-6) << t;
  }
}

TEST(OptimizerTest, AdamWDecaysMatrices) { CheckAdamW({2, 2}, 0.01); }
TEST(OptimizerTest, AdamWDoesNotDecayVectors) { CheckAdamW({4}, 0); }

TEST(OptimizerTest, Names) {
  EXPECT_TRUE(CheckOptimizer({"sgd", 0}).ok());
  EXPECT_NE(CheckOptimizer({"sdg", 0}).message().find("`sgd`"),
            std::string::npos);
  EXPECT_FALSE(CheckOptimizer({"sgd", -1}).ok());
  EXPECT_FALSE(CheckOptimizer({"sgd", INFINITY}).ok());
}

}  // namespace
}  // namespace pp::engine::torch_engine
