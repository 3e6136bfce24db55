#include "compiler/diag/renderer.h"

#include "gtest/gtest.h"

namespace pp::diag {
namespace {

class RendererTest : public testing::Test {
 protected:
  source::Span Find(uint32_t file, llvm::StringRef words) {
    const size_t at = sources_.Text(file).find(words);
    EXPECT_NE(at, llvm::StringRef::npos);
    return {file, static_cast<uint32_t>(at),
            static_cast<uint32_t>(at + words.size())};
  }
  std::string Show(bool colour = false) {
    return Render(diag_, sources_, colour);
  }

  source::SourceManager sources_;
  Emitter diag_;
};

TEST_F(RendererTest, LineCaretsNotesAndHelp) {
  const uint32_t file =
      sources_.AddText("a.sched", "place linear\nrank r { warmpu }\n");
  diag_.Emit(Code::kUnknownName, Find(file, "warmpu"), "no `warmpu` here")
      .Note(Find(file, "place"), "declared here")
      .Note({}, "seen from nowhere")
      .Help("did you mean `warmup`?");
  EXPECT_EQ(Show(),
            "a.sched:2:10: error: no `warmpu` here [PP2001]\n"
            "    2 | rank r { warmpu }\n"
            "      |          ^~~~~~\n"
            "a.sched:1:1: note: declared here\n"
            "    1 | place linear\n"
            "      | ^~~~~\n"
            "note: seen from nowhere\n"
            "help: did you mean `warmup`?\n");
}

TEST_F(RendererTest, PlacesKnownByNameHaveNoSourceLine) {
  Location where;
  where.file = "b.sched";
  where.line = 3;
  where.column = 7;
  diag_.Emit(Code::kMissing, where, "gone");
  EXPECT_EQ(Show(), "b.sched:3:7: error: gone [PP4001]\n");
}

TEST_F(RendererTest, TabsAndWideCharactersKeepTheCaretInPlace) {
  const uint32_t file = sources_.AddText("a", "\t/* \xC3\xA9\xE6\x97\xA5 */ x");
  diag_.Emit(Code::kUnknownName, Find(file, "x"), "m");
  EXPECT_EQ(Show(),
            "a:1:14: error: m [PP2001]\n"
            "    1 |  /* \xC3\xA9\xE6\x97\xA5 */ x\n"
            "      |            ^\n");
}

TEST_F(RendererTest, NothingReachesTheTerminalRaw) {
  const uint32_t file =
      sources_.AddText("a", std::string("\x1b[2J\xFF\0\r\r\n", 9));
  diag_.Emit(Code::kNotUtf8, source::Span{file, 4, 5}, "m");
  EXPECT_EQ(Show(),
            "a:1:5: error: m [PP1001]\n"
            "    1 | ?[2J??\n"
            "      |     ^\n");
}

TEST_F(RendererTest, LongLinesAreShownAroundTheCaret) {
  const uint32_t file = sources_.AddText(
      "a", std::string(1000, 'a') + "HERE" + std::string(1000, 'b'));
  diag_.Emit(Code::kUnknownName, Find(file, "HERE"), "m");
  EXPECT_EQ(Show(), "a:1:1001: error: m [PP2001]\n    1 | ..." +
                        std::string(40, 'a') + "HERE" + std::string(76, 'b') +
                        "...\n      | " + std::string(43, ' ') + "^~~~\n");
}

TEST_F(RendererTest, ASpanOverLinesIsMarkedToTheEndOfTheFirst) {
  const uint32_t file = sources_.AddText("a", "rank r {\n F\n}\n");
  diag_.Emit(Code::kUnknownName, source::Span{file, 5, 12}, "m");
  EXPECT_EQ(Show(),
            "a:1:6: error: m [PP2001]\n"
            "    1 | rank r {\n"
            "      |      ^~~\n");
}

TEST_F(RendererTest, TheEndOfTheFileIsAPlace) {
  const uint32_t file = sources_.AddText("a", "x\n");
  diag_.Emit(Code::kUnexpectedToken, source::Span{file, 2, 2}, "m");
  EXPECT_EQ(Show(), "a:2:1: error: m [PP1002]\n    2 | \n      | ^\n");
}

TEST_F(RendererTest, SaysHowManyMoreBehindTheLastOfACode) {
  const uint32_t file = sources_.AddText("a", std::string(100, 'x'));
  diag_.Emit(Code::kMissing, source::Span{file, 99, 100}, "last");
  for (uint32_t i = 0; i < kMaxPerCode + 3; ++i) {
    diag_.Emit(Code::kUnknownName, source::Span{file, i, i + 1}, "m");
  }
  const std::string shown = Show();
  const size_t more = shown.find("note: 3 more like this [PP2001]\n");
  ASSERT_NE(more, std::string::npos);
  EXPECT_LT(more, shown.find("PP4001"));
}

TEST_F(RendererTest, ColourOnlyOnRequest) {
  const uint32_t file = sources_.AddText("a", "x");
  diag_.Emit(Code::kUnknownName, source::Span{file, 0, 1}, "m").Help("h");
  EXPECT_EQ(Show(false).find('\x1b'), std::string::npos);
  EXPECT_EQ(Show(true),
            "a:1:1: \x1b[1;31merror: \x1b[0mm [PP2001]\n    1 | x\n      | "
            "\x1b[1;32m^\x1b[0m\n\x1b[1;36mhelp: \x1b[0mh\n");
}

TEST_F(RendererTest, Json) {
  const uint32_t file = sources_.AddText("a.sched", "one\ntwo\n");
  diag_.Emit(Code::kMissing, {}, "nowhere \"quoted\" \xFF");
  diag_.Emit(Code::kUnknownName, Find(file, "two"), "m")
      .Note(Find(file, "one"), "n")
      .Help("h");
  EXPECT_EQ(
      RenderJson(diag_, sources_),
      R"([{"code":"PP2001","severity":"error","message":"m",)"
      R"("file":"a.sched","line":2,"column":1,)"
      R"("notes":[{"message":"n","file":"a.sched","line":1,"column":1}],)"
      R"("help":"h"},)"
      R"({"code":"PP4001","severity":"error",)"
      R"("message":"nowhere \"quoted\" )"
      "\xEF\xBF\xBD"
      R"(","file":null,"line":null,"column":null,"notes":[],"help":null}])"
      "\n");
  EXPECT_EQ(RenderJson(Emitter(), sources_), "[]\n");
}

TEST_F(RendererTest, JsonCountsMore) {
  for (uint32_t i = 0; i < kMaxPerCode + 3; ++i) {
    diag_.Emit(Code::kUnknownName, source::Span{0, i, i + 1}, "m");
  }
  const std::string json = RenderJson(diag_, sources_);
  EXPECT_NE(json.find(R"("help":null,"more":3}])"), std::string::npos);
}

}  // namespace
}  // namespace pp::diag
