#include "runtime/base/quote.h"

#include <gtest/gtest.h>

namespace pp {
namespace {

TEST(Quote, EscapesWhatCannotBeShown) {
  EXPECT_EQ(Quote(""), R"("")");
  EXPECT_EQ(Quote("a b"), R"("a b")");
  EXPECT_EQ(Quote("\"\\\n\t\x01\x7f"), R"("\"\\\n\t\x01\x7f")");
  EXPECT_EQ(Quote("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"");
  EXPECT_EQ(Quote("\xC3(\xFF"), R"("\xc3(\xff")");
}

TEST(IsUtf8, KnowsTheForms) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("ascii"));
  EXPECT_TRUE(IsUtf8("\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsUtf8("\x80"));              // continuation alone
  EXPECT_FALSE(IsUtf8("\xC3"));              // cut short
  EXPECT_FALSE(IsUtf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(IsUtf8("\xE0\x80\x80"));      // overlong
  EXPECT_FALSE(IsUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsUtf8("\xF4\x90\x80\x80"));  // > U+10FFFF
  EXPECT_FALSE(IsUtf8("\xFF"));
}

}  // namespace
}  // namespace pp
