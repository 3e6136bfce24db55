#include "runtime/launch/weights.h"

#include <gtest/gtest.h>

namespace pp::launch {
namespace {

TEST(Weights, CopiesOnSeveralRanksHaveToBeTheSame) {
  WeightMap all;
  ASSERT_TRUE(AddWeights(Rank(0), {{"embed", {2}, {1, 2}}}, &all).ok());
  ASSERT_TRUE(
      AddWeights(Rank(1), {{"embed", {2}, {1, 2}}, {"b", {1}, {3}}}, &all)
          .ok());
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("embed").rank, Rank(0));
  const Status values = AddWeights(Rank(3), {{"embed", {2}, {1, 2.5}}}, &all);
  EXPECT_EQ(values.code(), StatusCode::kRankFailed);
  EXPECT_NE(values.message().find("embed on ranks 0 and 3"), std::string::npos);
  EXPECT_FALSE(AddWeights(Rank(3), {{"embed", {1, 2}, {1, 2}}}, &all).ok());
  EXPECT_FALSE(AddWeights(Rank(3), {{"embed", {1}, {1}}}, &all).ok());
}

}  // namespace
}  // namespace pp::launch
