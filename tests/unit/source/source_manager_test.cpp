#include "compiler/source/source_manager.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace pp::source {
namespace {

std::string WriteTemp(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(SourceManager, ResolvesLinesAndColumnsInBytes) {
  SourceManager sources;
  const uint32_t file = sources.AddText("a.sched", "ab\r\n\xC3\xA9x\n");
  const auto at = [&](uint32_t offset) {
    const LineColumn lc = sources.Resolve(file, offset);
    return std::pair(lc.line, lc.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(3), std::pair(1u, 4u));  // the line end is on its line
  EXPECT_EQ(at(4), std::pair(2u, 1u));
  EXPECT_EQ(at(6), std::pair(2u, 3u));
  EXPECT_EQ(at(8), std::pair(3u, 1u));
  EXPECT_EQ(at(999), std::pair(3u, 1u));
  EXPECT_EQ(sources.Line(file, 1), "ab");
  EXPECT_EQ(sources.Line(file, 2), "\xC3\xA9x");
  EXPECT_EQ(sources.Line(file, 3), "");
  EXPECT_EQ(sources.Line(file, 4), "");
}

TEST(SourceManager, ByteOrderMarkIsNoPartOfTheText) {
  SourceManager sources;
  const uint32_t file = sources.AddText("a", "\xEF\xBB\xBFschedule");
  EXPECT_EQ(sources.Text(file), "schedule");
}

TEST(SourceManager, AnyNumberReadsAsEmpty) {
  SourceManager sources;
  EXPECT_EQ(sources.Name(0), "");
  EXPECT_EQ(sources.Text(7), "");
  EXPECT_EQ(sources.Text(Span{7, 3, 9}), "");
  const uint32_t file = sources.AddText("a", "xyz");
  EXPECT_EQ(sources.Text(Span{file, 1, 99}), "yz");
  EXPECT_EQ(sources.Text(Span{file, 2, 1}), "");
  EXPECT_EQ(sources.Text(Span{file, 50, 60}), "");
}

TEST(SourceManager, LoadsAFile) {
  SourceManager sources;
  const std::string path = WriteTemp("load.sched", "rank r { F }\n");
  const auto file = sources.Load(path);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(sources.Text(*file), "rank r { F }\n");
  EXPECT_EQ(sources.Name(*file), path);
}

TEST(SourceManager, SaysWhyAFileCannotBeLoaded) {
  SourceManager sources;
  const auto missing = sources.Load("no/such.sched");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), StatusCode::kInput);
  EXPECT_EQ(missing.error().message(),
            "cannot read `no/such.sched`: No such file or directory");
  const auto folder = sources.Load(testing::TempDir());
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code(), StatusCode::kInput);
}

TEST(SourceManager, RefusesWhatHasNoEnd) {
  SourceManager sources;
  const auto endless = sources.Load("/dev/zero");
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().code(), StatusCode::kInput);
  EXPECT_NE(endless.error().message().find("larger than 16 MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace pp::source
