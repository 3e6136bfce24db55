#include "compiler/diag/diagnostic.h"

#include "compiler/diag/explain.h"
#include "gtest/gtest.h"

namespace pp::diag {
namespace {

source::Span At(uint32_t begin, uint32_t file = 1) {
  return {file, begin, begin + 1};
}

TEST(Emitter, KeepsTheSameOnlyOnce) {
  Emitter diag;
  diag.Emit(Code::kUnknownName, At(3), "no `x`");
  diag.Emit(Code::kUnknownName, At(3), "no `x`");
  diag.Emit(Code::kUnknownName, At(4), "no `x`");
  EXPECT_EQ(diag.all().size(), 2u);
  EXPECT_EQ(diag.errors(), 2u);
}

TEST(Emitter, CountsBeyondTheLimitOfACode) {
  Emitter diag;
  for (uint32_t i = 0; i < kMaxPerCode + 5; ++i) {
    diag.Emit(Code::kUnknownName, At(i), "no `x`");
  }
  diag.Emit(Code::kUnknownName, At(kMaxPerCode), "no `x`");  // seen before
  diag.Emit(Code::kMissing, At(0), "another code has its own limit");
  EXPECT_EQ(diag.all().size(), kMaxPerCode + 1);
  EXPECT_EQ(diag.MoreLike(Code::kUnknownName), 5u);
  EXPECT_EQ(diag.MoreLike(Code::kMissing), 0u);
  EXPECT_EQ(diag.errors(), kMaxPerCode + 6);
}

TEST(Emitter, SortsByPlace) {
  Emitter diag;
  diag.Emit(Code::kUnknownName, {}, "nowhere");
  Location by_name;
  by_name.file = "a.sched";
  diag.Emit(Code::kUnknownName, by_name, "by name");
  diag.Emit(Code::kUnknownName, At(1, 2), "second file");
  diag.Emit(Code::kUnknownName, At(9), "late");
  diag.Emit(Code::kMissing, At(2), "early");
  std::vector<std::string> messages;
  for (const Diagnostic* d : diag.Sorted()) messages.push_back(d->message);
  EXPECT_EQ(messages, (std::vector<std::string>{"early", "late", "second file",
                                                "by name", "nowhere"}));
}

TEST(Emitter, ContextIsNotedInnermostFirst) {
  Emitter diag;
  {
    ContextScope outer(diag, At(1), "outer");
    ContextScope inner(diag, At(2), "inner");
    diag.Emit(Code::kUnknownName, At(3), "x").Note(At(4), "own");
  }
  diag.Emit(Code::kUnknownName, At(5), "y");
  ASSERT_EQ(diag.all().size(), 2u);
  const auto& notes = diag.all()[0].notes;
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].message, "own");
  EXPECT_EQ(notes[1].message, "inner");
  EXPECT_EQ(notes[2].message, "outer");
  EXPECT_TRUE(diag.all()[1].notes.empty());
}

TEST(Codes, AreFoundByIdAndNumber) {
  EXPECT_EQ(Info(Code::kMissing).id, "PP4001");
  EXPECT_EQ(Info(Code::kMissing).name, "Missing");
  for (const char* id : {"PP4001", "pp4001", "4001"}) {
    ASSERT_NE(FindCode(id), nullptr) << id;
    EXPECT_EQ(FindCode(id)->code, Code::kMissing);
  }
  EXPECT_EQ(FindCode("PP0001")->code, Code::kCannotRead);
  for (const char* id : {"", "PP", "PP9999", "PPPP4001", "-1", "PP40010",
                         "4001x", "00000000001"}) {
    EXPECT_EQ(FindCode(id), nullptr) << id;
  }
}

// What `ppc explain` prints has to stand on its own and fit a terminal.
TEST(Codes, EachIsExplainedAndSummedUp) {
  for (const CodeInfo& info : AllCodes()) {
    const std::string text = Explain(info.code);
    EXPECT_EQ(text.find(info.id), 0u);
    EXPECT_GT(Explanation(info.code).size(), info.summary.size()) << info.id;
    EXPECT_FALSE(info.summary.empty()) << info.id;
    EXPECT_NE(info.summary.back(), '.') << info.id;
    size_t begin = text.find('\n') + 1;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      EXPECT_LE(end - begin, 80u) << info.id << ": " << text.substr(begin, 80);
    }
  }
}

}  // namespace
}  // namespace pp::diag
