// The repository as the meta tests see it: the text files of its folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pp::meta {

struct File {
  std::string path;  // from the root of the repository, with '/'
  std::string text;
};

// Every file below the folders (or a file named itself) whose name ends in one
// of the endings, sorted by path. Build folders and .git are left out.
std::vector<File> ReadTree(const std::vector<std::string>& folders,
                           const std::vector<std::string>& endings);

// One file; empty text if there is none.
File ReadFile(const std::string& path);
bool Exists(const std::string& path);

std::vector<std::string> Lines(std::string_view text);
// `word` stands in text with no letter, digit or _ at either side.
bool HasWord(std::string_view text, std::string_view word);
bool StartsWith(std::string_view text, std::string_view start);
bool EndsWith(std::string_view text, std::string_view end);

}  // namespace pp::meta
