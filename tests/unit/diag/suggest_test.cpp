#include "compiler/diag/suggest.h"

#include "gtest/gtest.h"

namespace pp::diag {
namespace {

constexpr std::string_view kWords[] = {"repeat", "rank", "require", "m"};

TEST(Suggest, NearestOfASet) {
  EXPECT_EQ(Nearest("repaet", kWords), "repeat");
  EXPECT_EQ(Nearest("Rank", kWords), "rank");
  EXPECT_EQ(Nearest("requires", kWords), "require");
  EXPECT_EQ(Nearest("M", kWords), "m");
}

TEST(Suggest, FarWordsAreNoNearMiss) {
  EXPECT_EQ(Nearest("schedule", kWords), "");
  EXPECT_EQ(Nearest("x", kWords), "");
  EXPECT_EQ(Nearest("", kWords), "");
  EXPECT_EQ(Nearest("rank", {}), "");
}

TEST(Suggest, AsAHint) {
  EXPECT_EQ(DidYouMean("rnak", kWords), "did you mean `rank`?");
  EXPECT_EQ(DidYouMean("phase", kWords), "");
}

}  // namespace
}  // namespace pp::diag
