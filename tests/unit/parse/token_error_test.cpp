// What is wrong with single tokens, and with the bytes they are made of.
#include "tests/unit/parse/parse_fixture.h"

namespace pp::parse {
namespace {

class TokenErrorTest : public ParseTest {
 protected:
  std::string InLet(const std::string& value) {
    return Errors("schedule s(P) { let x =\n" + value + "\n}");
  }
};

TEST_F(TokenErrorTest, NotUtf8) {
  EXPECT_EQ(Errors("// \xC3\xA9\n// \xFF"),
            "2:4: the byte 0xFF is no part of UTF-8 text\n");
  EXPECT_EQ(Errors("ab\xC3"), "1:3: the byte 0xC3 is no part of UTF-8 text\n");
  EXPECT_EQ(Errors("\xED\xA0\x80"),  // a surrogate
            "1:1: the byte 0xED is no part of UTF-8 text\n");
  EXPECT_EQ(Errors(std::string("a\0b", 3)),
            "1:2: the byte 0x00 is no part of UTF-8 text\n");
}

TEST_F(TokenErrorTest, Integers) {
  EXPECT_EQ(InLet("9223372036854775808"),
            "2:1: this integer does not fit 64 bits\n"
            "  help: the largest is 9223372036854775807\n");
  EXPECT_EQ(InLet("2P"),
            "2:1: `2P` is no integer, and all numbers of the language are\n"
            "  help: a product is written `2*P`\n");
  EXPECT_EQ(InLet("1.5"),
            "2:1: `1.5` is no integer, and all numbers of the language are\n");
}

TEST_F(TokenErrorTest, ForeignCharacters) {
  EXPECT_EQ(InLet("P \xE2\x89\xA5 1"),
            "2:3: the character `\xE2\x89\xA5` (U+2265) has no meaning here\n"
            "  help: write `>=`\n");
  EXPECT_EQ(InLet("P $ 1"),
            "2:3: the character `$` (U+0024) has no meaning here\n");
  EXPECT_EQ(InLet("\x1b"), "2:1: the character (U+001B) has no meaning here\n");
  EXPECT_EQ(InLet("\xF0\x9F\x9A\x80"),
            "2:1: the character `\xF0\x9F\x9A\x80` (U+1F680) has no meaning "
            "here\n");
}

TEST_F(TokenErrorTest, Texts) {
  EXPECT_EQ(Errors("import \"a"),
            "1:8: this text is not closed by `\"` on its line\n");
  EXPECT_EQ(Errors("import \"a\\nb\""),
            "1:10: `\\n` is no escape\n  help: there are `\\\"` and `\\\\`\n");
  EXPECT_EQ(Errors("import \"a\\\xC3\xA9\""),
            "1:10: `\\\xC3\xA9` is no escape\n"
            "  help: there are `\\\"` and `\\\\`\n");
  EXPECT_EQ(Errors("import \"a\\\\\""), "");
}

TEST_F(TokenErrorTest, ReservedWordsAreNamed) {
  for (const char* word : {"weights", "table", "bidir", "R", "U"}) {
    const std::string shown = InLet(word);
    EXPECT_EQ(shown.find(std::string("2:1: `") + word + "` is reserved for "),
              0u)
        << shown;
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 1) << shown;
  }
}

TEST_F(TokenErrorTest, CostAndMemBeginABlock) {
  EXPECT_EQ(InLet("cost"),
            "2:1: `cost` begins a block of costs, with no braces inside\n"
            "  help: cost { F = 1.0ms  B = 2.1ms  comm = 0.1ms }\n");
  EXPECT_EQ(Errors("schedule s(P) { mem { act = { 1GiB } } let = 1 }")
                .find("1:17: `mem` begins a block of sizes"),
            0u);
}

TEST_F(TokenErrorTest, ReservedBlocksArePassedOver) {
  const std::string shown =
      Errors("schedule s(P) { table r { F on 2*m; B on [2*(m} ] } let = 1 }");
  EXPECT_NE(shown.find("`table` is reserved"), std::string::npos);
}

}  // namespace
}  // namespace pp::parse
