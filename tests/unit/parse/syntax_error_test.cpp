// One mistake: where it is shown, and in which words.
#include "tests/unit/parse/parse_fixture.h"

namespace pp::parse {
namespace {

class SyntaxErrorTest : public ParseTest {
 protected:
  std::string InBody(const std::string& line) {
    return Errors("schedule s(P) {\n" + line + "\n}");
  }
  std::string InRank(const std::string& line) {
    return Errors("schedule s(P) { rank r {\n" + line + "\n} }");
  }
};

TEST_F(SyntaxErrorTest, MisspeltKeywords) {
  EXPECT_EQ(Errors("shedule s(P) { place linear }"),
            "1:1: expected `schedule`, `macro`, `import` or the end of the "
            "file, found `shedule`\n  help: did you mean `schedule`?\n");
  EXPECT_EQ(InBody("plaec linear"),
            "2:1: expected a line of a schedule (`place`, `rank`, `expect`, "
            "...) or `}`, found `plaec`\n  help: did you mean `place`?\n");
  EXPECT_EQ(InRank("Repeat M { F }"),
            "2:1: `Repeat` does not begin a statement\n"
            "  help: did you mean `repeat`?\n");
  EXPECT_EQ(InRank("if x { F } esle { B }"),
            "2:12: `esle` does not begin a statement\n"
            "  help: did you mean `else`?\n");
  EXPECT_EQ(InBody("expect a == b whn c"),
            "2:15: expected a line of a schedule (`place`, `rank`, `expect`, "
            "...) or `}`, found `whn`\n  help: did you mean `when`?\n");
  EXPECT_EQ(InBody("place custm { stage 0 -> rank 1 }"),
            "2:7: expected a placement (`linear`, `loop(v)`, `vee`, "
            "`wave(k)` or `custom { ... }`), found `custm`\n"
            "  help: did you mean `custom`?\n");
  EXPECT_EQ(Errors("schedule s(P) extend t { }"),
            "1:15: expected `{`, found `extend`\n"
            "  help: did you mean `extends`?\n");
}

TEST_F(SyntaxErrorTest, ANameAloneIsNoStatement) {
  EXPECT_EQ(InRank("warm"),
            "2:1: `warm` does not begin a statement\n"
            "  help: a macro is called with parentheses: `warm()`\n");
}

TEST_F(SyntaxErrorTest, WhatIsMissingAtALineEndIsShownThere) {
  EXPECT_EQ(InRank("let x = (1 + 2\nF"),
            "2:15: expected `)`, found `F` on a later line\n");
  EXPECT_EQ(InRank("repeat M\nF"),
            "2:9: expected `{`, found `F` on a later line\n");
  EXPECT_EQ(InRank("repeat M F"), "2:10: expected `{`, found `F`\n");
}

TEST_F(SyntaxErrorTest, ListsSayThatTheyGoOn) {
  EXPECT_EQ(Errors("schedule s(P M) { }"),
            "1:14: expected `)` or `,`, found `M`\n");
  EXPECT_EQ(Errors("macro a({}"), "1:9: expected a name or `)`, found `{`\n");
  EXPECT_EQ(InBody("walk F by (m / P c)"),
            "2:18: expected `)` or `,`, found `c`\n");
}

TEST_F(SyntaxErrorTest, KeywordsAndOperationsAreNoNames) {
  EXPECT_EQ(InBody("let rank = 3"),
            "2:5: expected a name, found `rank`\n"
            "  help: `rank` is a keyword and cannot be a name\n");
  EXPECT_EQ(InRank("let F = 3"),
            "2:5: expected a name, found `F`\n"
            "  help: `F` is an operation and cannot be a name\n");
  EXPECT_EQ(InRank("let x = F"),
            "2:9: expected an expression, found `F`\n"
            "  help: `F` is an operation and cannot be a name\n");
}

TEST_F(SyntaxErrorTest, OperatorsOfOtherLanguages) {
  EXPECT_EQ(InBody("expect bubble = 3"),
            "2:15: expected a line of a schedule (`place`, `rank`, `expect`, "
            "...) or `}`, found `=`\n  help: `==` compares two values\n");
  EXPECT_EQ(InBody("require a and b"),
            "2:11: expected a line of a schedule (`place`, `rank`, `expect`, "
            "...) or `}`, found `and`\n  help: write `&&`\n");
}

TEST_F(SyntaxErrorTest, ComparisonsDoNotChain) {
  EXPECT_EQ(InBody("require 0 <= a < b"),
            "2:16: comparisons do not chain: this compares with the 0 or 1 "
            "that the one before gives\n  help: join two comparisons with "
            "`&&`, or put the first in parentheses\n");
  EXPECT_EQ(InBody("require (0 <= a) < b && c == d"), "");
}

TEST_F(SyntaxErrorTest, ExpectCompares) {
  for (const char* claim : {"live(r)", "a == b && c == d", "(a + b)", "-a"}) {
    const std::string shown = InBody(std::string("expect ") + claim);
    EXPECT_EQ(shown,
              "2:8: an `expect` compares two values, and this does not\n"
              "  help: write `expect LEFT == RIGHT`, one line for each claim\n")
        << claim;
  }
}

TEST_F(SyntaxErrorTest, RangesBindPlainNames) {
  EXPECT_EQ(InBody("rank r+1 in 0..P { }"),
            "2:6: expected a name before `in`, found an expression\n");
  EXPECT_EQ(InRank("for 3 in 0..P { }"), "2:5: expected a name, found `3`\n");
  EXPECT_EQ(InBody("place custom { stage f(s) in 0..P -> rank 0 }"),
            "2:22: expected a name before `in`, found an expression\n");
}

TEST_F(SyntaxErrorTest, SmallForms) {
  EXPECT_EQ(InBody("walk Q by (m)"),
            "2:6: expected an operation (`F`, `B`, `I` or `W`), found `Q`\n");
  EXPECT_EQ(InBody("walk F (m)"), "2:8: expected `by`, found `(`\n");
  EXPECT_EQ(InBody("phase { F }"), "2:7: expected a name, found `{`\n");
  EXPECT_EQ(InBody("let x 3"), "2:7: expected `=`, found `3`\n");
  EXPECT_EQ(InBody("rank r in 0 { }"), "2:13: expected `..`, found `{`\n");
  EXPECT_EQ(InBody("place custom { }"), "2:16: expected `stage`, found `}`\n");
  EXPECT_EQ(InRank("F[ ]"), "2:4: expected an expression, found `]`\n");
  EXPECT_EQ(InRank("F@"),
            "2:3: expected an expression, found `}` on a later line\n");
  EXPECT_EQ(InRank("f(a,)"), "2:5: expected an expression, found `)`\n");
  EXPECT_EQ(Errors("import a"),
            "1:8: expected a text in double quotes, found `a`\n");
  EXPECT_EQ(Errors("schedule"),
            "1:9: expected a name, found the end of the file\n");
}

TEST_F(SyntaxErrorTest, LongWordsAreShortened) {
  const std::string word(100, 'x');
  EXPECT_EQ(Errors(word),
            "1:1: expected `schedule`, `macro`, `import` or the end of the "
            "file, found `" +
                word.substr(0, 40) + "...`\n");
}

}  // namespace
}  // namespace pp::parse
