// Several mistakes in one file: each is shown once, and nothing that only
// follows from them.
#include "tests/unit/parse/parse_fixture.h"

namespace pp::parse {
namespace {

// The lines at which errors are shown, in order.
class RecoveryTest : public ParseTest {
 protected:
  std::vector<int> Lines(const std::string& text) {
    std::vector<int> lines;
    std::string shown = Errors(text);
    for (size_t at = 0; at < shown.size(); at = shown.find('\n', at) + 1) {
      if (shown[at] != ' ') lines.push_back(std::atoi(shown.c_str() + at));
    }
    return lines;
  }
};

using Expected = std::vector<int>;

TEST_F(RecoveryTest, IndependentErrorsAllShow) {
  EXPECT_EQ(Lines("schedule s(P, M) {\n"
                  "  plase linear\n"
                  "  rank r {\n"
                  "    repaet M { F }\n"
                  "    phase a { repeat M F }\n"
                  "    let x = (1 + 2\n"
                  "    phase b { F }\n"
                  "    F[0\n"
                  "    B\n"
                  "  }\n"
                  "  expect bubble = 3 * (t(F) + t(B))\n"
                  "  walk F by (m / P c)\n"
                  "}\n"
                  "schedule t(P { place linear }\n"),
            (Expected{2, 4, 5, 6, 8, 11, 12, 14}));
}

TEST_F(RecoveryTest, BlocksBehindABrokenHeadAreRead) {
  EXPECT_EQ(Lines("schedule s(P) {\n"
                  "rank r in 0..P, {\n F@\n}\n"
                  "rnak r {\n F[\n}\n"
                  "rank r { repeat M+ {\n let 3\n}\n }\n"
                  "}"),
            (Expected{2, 3, 5, 6, 8, 9}));
}

TEST_F(RecoveryTest, UnknownBlocksAreSkippedWhole) {
  EXPECT_EQ(Lines("schedule s(P) {\n colours { red = { 3 } }\n let = 3\n}"),
            (Expected{2, 3}));
}

TEST_F(RecoveryTest, AMissingBraceIsBlamedOnce) {
  EXPECT_EQ(Errors("schedule s(P) {\n"
                   "  rank r {\n"
                   "    phase a { repeat M { F }\n"
                   "    phase b { B }\n"
                   "  }\n"
                   "  expect a == b\n"
                   "  place linear\n"
                   "}\n"
                   "schedule t(P) {\n  let = 3\n}\n"),
            "6:3: expected `}`, found `expect`\n"
            "  note: this `{` is still open\n"
            "10:7: expected a name, found `=`\n");
  EXPECT_EQ(Errors("schedule s(P) { rank r { phase a { F"),
            "1:37: expected `}`, found the end of the file\n"
            "  note: this `{` is still open\n");
  EXPECT_EQ(Errors("schedule s(P) {\n place linear\nschedule t(P) { }"),
            "3:1: expected `}`, found `schedule`\n"
            "  note: this `{` is still open\n");
}

TEST_F(RecoveryTest, AMissingOpenBraceIsBlamedOnce) {
  EXPECT_EQ(Lines("schedule s(P) {\n rank 1\n  F\n }\n expect a == b\n}\n"
                  "schedule t(P) {\n let = 3\n}"),
            (Expected{2, 8}));
}

TEST_F(RecoveryTest, ASurplusBraceIsBlamedOnce) {
  EXPECT_EQ(Errors("schedule s(P) { }\n}\n}\nplace linear\nschedule t(P) { }"),
            "2:1: this `}` closes nothing\n");
}

TEST_F(RecoveryTest, CustomPlacements) {
  EXPECT_EQ(Lines("schedule s(P) {\nplace custom {\n stage 0 ->\n"
                  " stage 1 -> 7\n stage 2 -> rank 2\n}\nlet = 3\n}"),
            (Expected{3, 4, 7}));
  EXPECT_EQ(Lines("schedule s(P) {\nplace custom { stage 0 -> rank 1 stag 2\n"
                  "-> rank r  stage }\nlet x = 1\nplace linear\n}"),
            (Expected{2}));
  EXPECT_EQ(Lines("schedule s(P) {\nplace custm { stage 0 -> rank 1 }\n"
                  "let = 3\n}"),
            (Expected{2, 3}));
}

TEST_F(RecoveryTest, BrokenTokensDoNotCascade) {
  EXPECT_EQ(Lines("schedule s(P) {\n"
                  "  cost { F = 1.0ms  comm = 0.1ms + 3us/MiB }\n"
                  "  weights stash(2)\n"
                  "  table import \"x.csv\" format pytorch\n"
                  "  place bidir\n"
                  "  place wave(2)\n"
                  "  rank r { R R[0]@1 U }\n"
                  "  require P \xE2\x89\xA5 2 \xE2\x82\xAC\n"
                  "  let x = 2P + 1.5\n"
                  "  require 1, \"open\n"
                  "  let cost = $\n"
                  "}\n"),
            (Expected{3, 4, 5, 7, 7, 7, 8, 8, 9, 9, 10, 11, 11}));
}

TEST_F(RecoveryTest, AnOpenCommentExplainsTheEnd) {
  EXPECT_EQ(Errors("schedule s(P) { /* rank r { F }\n"),
            "1:17: this comment is not closed by `*/`\n");
}

}  // namespace
}  // namespace pp::parse
