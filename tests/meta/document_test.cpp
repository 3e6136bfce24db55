// What the documents say is so: paths, links, presets; and the project's files
// speak of the project alone.
#include "tests/meta/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/meta/tree.h"

namespace pp::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kRoots = {"grammar",   "compiler",    "runtime",
                                         "schedules", "experiments", "tests"};

std::vector<File> Documents() {
  std::vector<std::string> places = kRoots;
  places.push_back("README.md");
  return ReadTree(places, {".md"});
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash + 1);
}

TEST(Documents, LinksLeadSomewhere) {
  for (const File& file : Documents()) {
    for (const std::string& link : LocalLinks(file.text)) {
      EXPECT_TRUE(Exists(FolderOf(file.path) + link))
          << file.path << ": there is no " << link;
    }
  }
}

TEST(Documents, NamedPathsExist) {
  for (const File& file : Documents()) {
    for (const std::string& path : NamedPaths(file.text, kRoots)) {
      EXPECT_TRUE(Exists(path) || Exists(FolderOf(file.path) + path))
          << file.path << ": there is no " << path;
    }
  }
}

TEST(Documents, NamedPresetsExist) {
  const std::string presets = ReadFile("CMakePresets.json").text;
  for (const File& file : Documents()) {
    for (const std::string& name : NamedPresets(file.text)) {
      EXPECT_THAT(presets, HasSubstr("\"" + name + "\"")) << file.path;
    }
  }
}

TEST(Documents, EveryLibraryFolderSaysWhatItIs) {
  for (const char* side : {"compiler/", "runtime/"}) {
    for (const File& file : ReadTree({side}, {"CMakeLists.txt"})) {
      const std::string folder = FolderOf(file.path);
      if (folder == side ||
          file.text.find("pp_library(") == std::string::npos) {
        continue;
      }
      EXPECT_TRUE(Exists(folder + "README.md"))
          << folder << " has no README.md";
    }
  }
}

TEST(Documents, NoPathOfSomebodysMachine) {
  std::vector<std::string> places = kRoots;
  for (const char* name :
       {"README.md", "CMakeLists.txt", "setup", "run", "test", ".ci"}) {
    places.push_back(name);
  }
  // Written so that this file does not have them itself.
  const std::string root = std::string("/ro") + "ot/";
  const std::string work = std::string("/wo") + "rk/";
  for (const File& file : ReadTree(places, {""})) {
    for (const std::string& word : {root, work}) {
      const size_t at = file.text.find(word);
      EXPECT_EQ(at, std::string::npos)
          << file.path << " has `" << file.text.substr(at, 40) << "`";
    }
  }
}

TEST(Documents, FilesStayReadable) {
  const std::vector<std::string> endings = {".h", ".cpp", ".def", ".g4",
                                            ".cmake"};
  for (const File& file : ReadTree(kRoots, endings)) {
    EXPECT_LE(Lines(file.text).size(), 600u) << file.path << ": split it";
  }
}

// ---- The reading itself ---------------------------------------------------

const char kSample[] =
    "See [it](a/b.md#here) and [web](https://x.org/y), `compiler/x/y.h`,\n"
    "`runtime/**`, `plain`, `cmake --preset dev`.\n"
    "```console varies\n"
    "$ ./tool  4\n"
    "took 1.5 s   ok\n"
    "...\n"
    "end\n"
    "```\n"
    "```sh\n"
    "./run schedules/a.sched --steps 3\n"
    "```\n";

TEST(DocumentSelfTest, FindsLinksPathsAndPresets) {
  EXPECT_THAT(LocalLinks(kSample), ElementsAre("a/b.md"));
  EXPECT_THAT(NamedPaths(kSample, {"compiler", "runtime", "schedules"}),
              ElementsAre("compiler/x/y.h", "run", "schedules/a.sched"));
  EXPECT_THAT(NamedPresets(kSample), ElementsAre("dev"));
}

TEST(DocumentSelfTest, ComparesOutput) {
  const auto blocks = Blocks(kSample);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_TRUE(blocks[0].Has("varies"));
  const auto commands = Commands(blocks[0]);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].text, "./tool  4");
  EXPECT_EQ(commands[0].line, 4u);
  EXPECT_EQ(OutputFault(commands[0], true, {"took 27 s ok", "x", "y", "end"}),
            "");
  EXPECT_EQ(OutputFault(commands[0], true, {"took 1.5 s   ok", "end", ""}), "");
  EXPECT_THAT(OutputFault(commands[0], false, {"took 27 s   ok", "end"}),
              HasSubstr("line 4: `./tool  4` does not print `took 1.5 s"));
  EXPECT_THAT(OutputFault(commands[0], true, {"took 27 s ok", "x"}),
              HasSubstr("does not print `end`"));
}

}  // namespace
}  // namespace pp::meta
