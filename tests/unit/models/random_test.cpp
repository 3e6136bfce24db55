#include "runtime/models/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pp::models {
namespace {

TEST(RandomTest, StreamsDependOnSeedKeyAndNumbers) {
  const uint64_t first = Random(1, "a").Next();
  EXPECT_EQ(first, Random(1, "a").Next());
  EXPECT_NE(first, Random(2, "a").Next());
  EXPECT_NE(first, Random(1, "b").Next());
  EXPECT_NE(Random(1, "a", 0, 1).Next(), Random(1, "a", 1, 0).Next());
}

TEST(RandomTest, Moments) {
  Random random(5, "moments");
  constexpr int kCount = 20000;
  double sum = 0, squares = 0, uniform = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
    const double u = random.Uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u;
    ASSERT_LT(random.Below(7), 7u);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.03);
  EXPECT_NEAR(squares / kCount, 1, 0.05);
  EXPECT_NEAR(uniform / kCount, 0.5, 0.01);
}

}  // namespace
}  // namespace pp::models
