#include "runtime/base/edit_distance.h"

#include <gtest/gtest.h>

#include <array>

namespace pp {
namespace {

TEST(EditDistance, CountsEachKindOfSlip) {
  EXPECT_EQ(EditDistance("", "", 3), 0u);
  EXPECT_EQ(EditDistance("wait", "wait", 3), 0u);
  EXPECT_EQ(EditDistance("wait", "wai", 3), 1u);
  EXPECT_EQ(EditDistance("wait", "waist", 3), 1u);
  EXPECT_EQ(EditDistance("wait", "bait", 3), 1u);
  EXPECT_EQ(EditDistance("wait", "wiat", 3), 1u);  // swapped
  EXPECT_EQ(EditDistance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(EditDistance("", "abc", 5), 3u);
}

TEST(EditDistance, StopsAtTheLimit) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(EditDistance("a", "abcdefgh", 2), 3u);
  EXPECT_EQ(EditDistance("abcdefgh", "zyxwvuts", 4), 5u);
}

// The bound must not cut off a swap after a bad row.
TEST(EditDistance, AgreesWithItselfUnbounded) {
  const std::array<std::string_view, 8> words = {"ab",  "ba",  "abc",  "cab",
                                                 "acb", "bca", "abab", "baba"};
  for (const auto a : words) {
    for (const auto b : words) {
      const size_t exact = EditDistance(a, b, 100);
      EXPECT_EQ(exact, EditDistance(b, a, 100)) << a << ' ' << b;
      for (size_t limit = 0; limit < 5; ++limit) {
        EXPECT_EQ(EditDistance(a, b, limit), std::min(exact, limit + 1))
            << a << ' ' << b << ' ' << limit;
      }
    }
  }
}

constexpr std::array<std::string_view, 4> kNames = {"forward", "backward",
                                                    "wait", "recv"};

TEST(DidYouMean, FindsTheNearest) {
  EXPECT_EQ(DidYouMean("forwrad", kNames), "forward");
  EXPECT_EQ(DidYouMean("bakward", kNames), "backward");
  EXPECT_EQ(DidYouMean("receive", kNames), std::nullopt);
  EXPECT_EQ(DidYouMean("", kNames), std::nullopt);
  EXPECT_EQ(DidYouMean("x", kNames), std::nullopt);
  EXPECT_EQ(DidYouMean("recv", kNames), "recv");
  EXPECT_EQ(DidYouMean(std::string(100000, 'f'), kNames), std::nullopt);
}

TEST(DidYouMean, TiesGoToTheFirst) {
  constexpr std::array<std::string_view, 2> kTwo = {"cat", "bat"};
  EXPECT_EQ(DidYouMean("rat", kTwo), "cat");
}

TEST(DidYouMean, AsPartOfAMessage) {
  EXPECT_EQ(Suggestion("wiat", kNames), ", did you mean `wait`?");
  EXPECT_EQ(Suggestion("zzz", kNames), "");
}

}  // namespace
}  // namespace pp
