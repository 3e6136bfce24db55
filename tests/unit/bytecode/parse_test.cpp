#include <gtest/gtest.h>

#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto module = Parse(text, "f.ppasm");
  return module ? "parsed" : module.error().message();
}

// What is wrong with this text behind a good first line, as LINE:COL: cause.
std::string Error(const std::string& text) {
  const std::string error = ErrorOf("ppasm 1\n" + text);
  return error.starts_with("f.ppasm:") ? error.substr(8) : error;
}

std::string CodeError(const std::string& line) {
  return Error("rank 0\ncode\n" + line);
}

TEST(ParseText, WrittenByHand) {
  const auto m = Parse(R"(// A comment.
ppasm 1
module
  micro_batches 1   // as many as there are
  stages 2
  lanes 2
facts
  schedule "by hand"
  param v -2
  makespan 2.5e1
group g0 tied s0 r0 r1
rank 0
  chunk c0 s0 replica 1
  slots 1
  stashes 1
  code
    forward c0 m0 - -> %0 $0
    send r1 l0 %0 act s0 m0   ; hand.sched:3:5 fill[2]
    wait %0                   ; hand.sched:3:5 fill
rank 1
)",
                       "f.ppasm");
  ASSERT_TRUE(m) << m.error().message();
  EXPECT_EQ(m->micro_batches, 1u);
  EXPECT_EQ(m->replicas, 1u);
  EXPECT_EQ(m->facts.schedule, "by hand");
  EXPECT_EQ(m->facts.params[0].second, -2);
  EXPECT_EQ(m->facts.makespan, 25);
  EXPECT_EQ(m->groups[0].kind, GroupKind::kTied);
  ASSERT_EQ(m->ranks(), 2u);
  const RankProgram& p = m->programs[0];
  EXPECT_EQ(p.chunks[0].replica, 1u);
  ASSERT_EQ(p.code.size(), 3u);
  EXPECT_EQ(op::Forward::Of(p.code[0]).in, kNoSlot);
  EXPECT_EQ(op::Send::Of(p.code[1]).peer, Rank{1});
  ASSERT_EQ(m->sites.size(), 1u);
  EXPECT_EQ(m->sites[0], (Site{"hand.sched", 3, 5, "fill"}));
  EXPECT_EQ(p.debug, (std::vector<DebugEntry>{{}, {0, 2}, {0, 0}}));
  EXPECT_TRUE(m->programs[1].debug.empty());
}

TEST(ParseText, BlanksAndLineEndsDoNotMatter) {
  const Module m = SampleModule();
  std::string text = "\xEF\xBB\xBF";
  for (const char c : Print(m))
    text += c == '\n' ? "\r\n\n" : std::string(1, c);
  const auto back = Parse(text, "f.ppasm");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, m);
}

TEST(ParseText, TheFirstLine) {
  EXPECT_EQ(ErrorOf(""),
            "f.ppasm:1:1: expected `ppasm 1`, found no line of text");
  EXPECT_EQ(ErrorOf("\n\n// x\n"),
            "f.ppasm:3:1: expected `ppasm 1`, found no line of text");
  EXPECT_EQ(ErrorOf("schedule gpipe"),
            "f.ppasm:1:1: expected `ppasm 1` on the first line, found "
            "`schedule`");
  EXPECT_EQ(ErrorOf("ppasm 2"),
            "f.ppasm:1:7: format version 2; this program reads version 1");
  EXPECT_EQ(ErrorOf(std::string("\0\xff;", 3)),
            "f.ppasm:1:1: expected `ppasm 1` on the first line, found "
            "`\\x00\\xff`");
}

TEST(ParseText, Sections) {
  EXPECT_EQ(Error("modul"),
            "2:1: unknown section `modul`, did you mean `module`?");
  EXPECT_EQ(Error("module\nmodule"), "3:1: section `module` comes twice");
  EXPECT_EQ(Error("module\n  stage 3"),
            "3:3: unknown field of `module` `stage`, did you mean `stages`?");
  EXPECT_EQ(Error("module\nlanes 1\nlanes 2"), "4:1: `lanes` comes twice");
  EXPECT_EQ(Error("module\nlanes 4294967296"),
            "3:7: a number `4294967296` is out of range");
  EXPECT_EQ(Error("module\nlanes -1"),
            "3:7: expected a number (like `3`), found `-1`");
  EXPECT_EQ(Error("module\nlanes"),
            "3:6: expected a number (like `3`), found the end of the line");
  EXPECT_EQ(Error("facts\n  makspan 1"),
            "3:3: unknown fact `makspan`, did you mean `makespan`?");
  EXPECT_EQ(Error("facts\n  tier strict"),
            "3:8: expected a string between quotes, found `strict`");
  EXPECT_EQ(Error("facts\n  tier \"strict"),
            "3:8: a string is not closed on its line");
  EXPECT_EQ(Error("facts\n  tier \"\\q\""),
            "3:8: unknown escape in a string, there are \\\" \\\\ \\n \\t "
            "\\xHH");
  EXPECT_EQ(Error("group g1 tied s0"),
            "2:7: expected group `g0`: they come in order");
  EXPECT_EQ(Error("group g0 tide s0"),
            "2:10: unknown kind of group `tide`, did you mean `tied`?");
  EXPECT_EQ(Error("rank 1"), "2:6: expected rank `0`: they come in order");
  EXPECT_EQ(Error("rank 0\nwait %0"), "3:1: `wait` before the line `code`");
  EXPECT_EQ(Error("rank 0\nslot 3"),
            "3:1: unknown field of `rank` `slot`, did you mean `slots`?");
  EXPECT_EQ(Error("rank 0\nchunk c0 s0 x"),
            "3:13: expected `replica`, found `x`");
  EXPECT_EQ(Error("; x"), "2:1: expected a word, found `;`");
}

TEST(ParseText, Instructions) {
  EXPECT_EQ(CodeError("  forwrad c0 m0 - -> %0 $0"),
            "4:3: unknown instruction `forwrad`, did you mean `forward`?");
  EXPECT_EQ(CodeError("zzz"), "4:1: unknown instruction `zzz`");
  EXPECT_EQ(CodeError("wait 3"),
            "4:6: expected operand `slot` (like `%3`), found `3`");
  EXPECT_EQ(CodeError("wait"),
            "4:5: expected operand `slot` (like `%3`), found the end of the "
            "line");
  EXPECT_EQ(CodeError("wait %"),
            "4:6: expected operand `slot` (like `%3`), found `%`");
  EXPECT_EQ(CodeError("wait %1 %2"),
            "4:9: expected the end of the line, found `%2`");
  EXPECT_EQ(CodeError("wait %4294967296"),
            "4:6: operand `slot` `%4294967296` is out of range");
  EXPECT_EQ(CodeError("forward c0 m0 - %0 $0"),
            "4:17: expected `->`, found `%0`");
  EXPECT_EQ(CodeError("send r1 l0 %0 acct s0 m0"),
            "4:15: expected `act` or `grad`, found `acct`, did you mean "
            "`act`?");
  EXPECT_EQ(CodeError("wait %1 ; f.sched:1"),
            "4:20: expected `:`, found the end of the line");
  EXPECT_EQ(CodeError("wait %1 ; #0"), "4:12: no site 0: there are 0");
  EXPECT_EQ(CodeError("wait %1 ; f:1:1 p[3"),
            "4:20: expected `]`, found the end of the line");
}

}  // namespace
}  // namespace pp::bytecode
