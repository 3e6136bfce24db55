// A Markdown document as something that can be tested: its fenced blocks, the
// commands in them with the output they show, its links and paths.
//
//   ```sched      first line `// NAME.sched...`: the file NAME.sched
//   ```console    `$ command` and below it the output, word for word; a line
//                 `...` stands for any number of lines
//   ```console varies   the same, but numbers and widths are not compared
//   ```console torch    the same, where LibTorch is built in
//   ```sh         commands that are only looked at: their files exist
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pp::meta {

struct Block {
  std::vector<std::string> tags;  // the words after the fence
  size_t line = 0;                // of the fence
  std::vector<std::string> body;

  bool Has(std::string_view tag) const;
};

struct Command {
  std::string text;
  size_t line = 0;
  std::vector<std::string> output;
};

std::vector<Block> Blocks(std::string_view markdown);
std::vector<Command> Commands(const Block& console);

// Empty if the output is as the document says, else what is the matter.
std::string OutputFault(const Command& command, bool varies,
                        const std::vector<std::string>& actual);

// Targets of `[text](target)` without web addresses and #places.
std::vector<std::string> LocalLinks(std::string_view markdown);
// Words, in backticks or in ```sh blocks, that name a path of the repository:
// their first part is one of `roots`, or they begin with "./". Not those with
// NAME in them.
std::vector<std::string> NamedPaths(std::string_view markdown,
                                    const std::vector<std::string>& roots);
// N of `--preset N` and `--preset=N`.
std::vector<std::string> NamedPresets(std::string_view markdown);

}  // namespace pp::meta
