// Hostile sizes: an error with a place, in time and memory that are bounded.
#include "tests/unit/parse/parse_fixture.h"

namespace pp::parse {
namespace {

constexpr int kHuge = 1'000'000;

std::string Times(int count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

class LimitsTest : public ParseTest {
 protected:
  void ExpectTooDeep(const std::string& text) {
    EXPECT_NE(Errors(text).find("nested deeper than 256 levels\n"),
              std::string::npos)
        << text.substr(0, 80);
  }
};

TEST_F(LimitsTest, NestingIsBounded) {
  const std::string head = "schedule s(P) { let x = ";
  ExpectTooDeep(head + Times(kHuge, "("));
  ExpectTooDeep(head + Times(kHuge, "-") + "1");
  ExpectTooDeep(head + Times(kHuge, "f("));
  ExpectTooDeep(head + "1" + Times(kHuge, "+1"));
  ExpectTooDeep(head + "chunk" + Times(kHuge, "+chunk"));
  ExpectTooDeep(head + Times(kHuge, "a ? "));
  ExpectTooDeep(head + "1" + Times(kHuge, " ? 1 : 1"));
  ExpectTooDeep(Times(kHuge, "{"));
  ExpectTooDeep("schedule s(P) { rank r {" + Times(kHuge, "repeat 1 {"));
  ExpectTooDeep("schedule s(P) { rank r {" + Times(kHuge, "F["));
  ExpectTooDeep("schedule s(P) { rank r { if 1 {}" +
                Times(kHuge, " else if 1 {}"));
}

TEST_F(LimitsTest, WhatIsLongIsNotDeep) {
  EXPECT_EQ(
      Errors("schedule s(P) { rank r {" +
             Times(2000, "F@a+b*c if 1 {} else {} let x = a-b\n") + "} }"),
      "");
  EXPECT_EQ(
      Errors("schedule s(P) { let x = max(0" + Times(2000, ", -1+2*3") + ") }"),
      "");
  EXPECT_EQ(Errors("schedule s(P) { let x = " + Times(200, "(") + "1" +
                   Times(200, ")") + " }"),
            "");
}

TEST_F(LimitsTest, TheNumberOfTokensIsBounded) {
  EXPECT_NE(Errors(Times(kHuge + 1, ";"))
                .find("more than 1000000 words, numbers and signs"),
            std::string::npos);
}

TEST_F(LimitsTest, UnclosedThingsAreReadOnce) {
  EXPECT_EQ(Errors(Times(kHuge, "/* ")),
            "1:1: this comment is not closed by `*/`\n");
}

TEST_F(LimitsTest, ErrorsAreBounded) {
  diag::Emitter diag;
  const uint32_t file =
      sources_.AddText("a", "schedule s(P) { " + Times(3000, "let = 1\n"));
  EXPECT_FALSE(Parse(sources_, file, diag).has_value());
  EXPECT_EQ(diag.all().size(), diag::kMaxPerCode);
  EXPECT_GT(diag.MoreLike(diag::Code::kUnexpectedToken), 2000u);
}

// The emitter keeps an error once; the tree is no better the second time.
TEST_F(LimitsTest, ATextReadTwiceFailsTwice) {
  for (const char* text : {"schedule s(P) { let }", "schedule s(P) { let x = $",
                           "schedule s(P) { expect 1 }"}) {
    const uint32_t file = sources_.AddText("a", text);
    EXPECT_FALSE(Parse(sources_, file, diag_).has_value()) << text;
    EXPECT_FALSE(Parse(sources_, file, diag_).has_value()) << text;
  }
}

TEST_F(LimitsTest, ErrorsOfOtherFilesAreTheirOwn) {
  ParseText("schedule");
  EXPECT_TRUE(diag_.has_errors());
  EXPECT_TRUE(ParseText("schedule s(P) { place vee }").has_value());
}

}  // namespace
}  // namespace pp::parse
