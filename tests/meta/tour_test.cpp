// Runs what the README shows: every ```console block, in order, in a folder of
// its own that looks like the repository after the set-up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/meta/document.h"
#include "tests/meta/tree.h"

namespace pp::meta {
namespace {

namespace fs = std::filesystem;

fs::path MakeScratch() {
  const fs::path scratch =
      fs::path(::testing::TempDir()) / ("pp_tour_" + std::to_string(getpid()));
  fs::create_directories(scratch / "build");
  fs::create_symlink(fs::path(PP_BINARY_DIR) / "bin", scratch / "build/bin");
  for (const char* name : {"schedules", "experiments", "tests"}) {
    fs::create_symlink(fs::path(PP_SOURCE_ROOT) / name, scratch / name);
  }
  return scratch;
}

// A ```sched block that begins with `// NAME.sched` is the file NAME.sched.
void WriteSchedule(const Block& block, const fs::path& scratch) {
  if (block.body.empty() || !StartsWith(block.body[0], "// ")) return;
  const size_t end = block.body[0].find(".sched");
  if (end == std::string::npos) return;
  std::ofstream out(scratch / (block.body[0].substr(3, end - 3) + ".sched"));
  for (const std::string& line : block.body) out << line << "\n";
}

std::vector<std::string> OutputOf(const std::string& command,
                                  const fs::path& scratch) {
  const std::string whole =
      "cd '" + scratch.string() + "' && { " + command + "; } 2>&1 </dev/null";
  FILE* pipe = popen(whole.c_str(), "r");
  std::string text;
  char chunk[4096];
  while (size_t n = fread(chunk, 1, sizeof chunk, pipe)) text.append(chunk, n);
  pclose(pipe);
  return Lines(text);
}

TEST(Tour, ReadmeShowsWhatTheProgramsPrint) {
  const fs::path scratch = MakeScratch();
  size_t commands = 0;
  for (const Block& block : Blocks(ReadFile("README.md").text)) {
    if (block.Has("sched")) WriteSchedule(block, scratch);
    if (!block.Has("console") || (block.Has("torch") && !PP_HAS_TORCH)) {
      continue;
    }
    for (const Command& command : Commands(block)) {
      EXPECT_EQ(OutputFault(command, block.Has("varies"),
                            OutputOf(command.text, scratch)),
                "");
      ++commands;
    }
  }
  EXPECT_GT(commands, 3u);
  fs::remove_all(scratch);
}

}  // namespace
}  // namespace pp::meta
