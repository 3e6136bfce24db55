#include "runtime/base/file_io.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace pp {
namespace {

namespace fs = std::filesystem;

class FileIo : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "pp_file_io_XXXXXX");
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  size_t FilesInFolder() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_),
                                             fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(FileIo, ReadsWhatWasWritten) {
  const std::string text(300000, 'x');
  ASSERT_TRUE(WriteTextFile(Path("a"), text).ok());
  EXPECT_EQ(*ReadTextFile(Path("a")), text);
  ASSERT_TRUE(WriteTextFile(Path("a"), "").ok());
  EXPECT_EQ(ReadFile(Path("a"))->size(), 0u);
  EXPECT_EQ(FilesInFolder(), 1u);  // nothing aside is left
}

TEST_F(FileIo, SaysWhyAFileCannotBeRead) {
  const auto missing = ReadFile(Path("no"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::kInput);
  EXPECT_EQ(missing.error().message(),
            "cannot read `" + Path("no") + "`: No such file or directory");
  EXPECT_EQ(ReadFile(folder_.string()).error().message(),
            "cannot read `" + folder_.string() + "`: Is a directory");
}

TEST_F(FileIo, SaysWhyAFileCannotBeWritten) {
  EXPECT_EQ(
      WriteTextFile(Path("no/file"), "x").message(),
      "cannot write `" + Path("no/file") + "`: No such file or directory");
  EXPECT_EQ(WriteTextFile(folder_.string(), "x").code(), StatusCode::kMachine);
  // The device that is always full.
  EXPECT_EQ(WriteTextFile("/dev/full", "x").message(),
            "cannot write `/dev/full`: No space left on device");
}

TEST_F(FileIo, KeepsPermissionsAndFollowsLinks) {
  ASSERT_TRUE(WriteTextFile(Path("target"), "old").ok());
  fs::permissions(Path("target"), fs::perms::owner_all);
  fs::create_symlink(Path("target"), Path("link"));
  ASSERT_TRUE(WriteTextFile(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadTextFile(Path("target")), "new");
  EXPECT_EQ(fs::status(Path("target")).permissions(), fs::perms::owner_all);
}

TEST_F(FileIo, WritesToADevice) {
  EXPECT_TRUE(WriteTextFile("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(ReadFile("/dev/null")->size(), 0u);
}

TEST_F(FileIo, ReadsAPipe) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Status status = WriteTextFile(Path("pipe"), "through a pipe");
    ::_exit(ExitCode(status));
  }
  EXPECT_EQ(*ReadTextFile(Path("pipe")), "through a pipe");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pp
