#include "tests/meta/tree.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pp::meta {
namespace {

namespace fs = std::filesystem;

bool IsLeftOut(const std::string& name) {
  return StartsWith(name, "build") || name == ".git" || name == ".cache";
}

bool HasEnding(const std::string& name,
               const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const auto& ending) {
    return EndsWith(name, ending);
  });
}

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

void Collect(const std::string& folder, const std::vector<std::string>& endings,
             std::vector<File>& files) {
  const fs::path root(PP_SOURCE_ROOT);
  for (fs::recursive_directory_iterator it(root / folder), end; it != end;
       ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() && IsLeftOut(name)) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && HasEnding(name, endings)) {
      files.push_back(ReadFile(it->path().lexically_relative(root).string()));
    }
  }
}

}  // namespace

std::vector<File> ReadTree(const std::vector<std::string>& folders,
                           const std::vector<std::string>& endings) {
  std::vector<File> files;
  for (const std::string& folder : folders) {
    if (fs::is_directory(fs::path(PP_SOURCE_ROOT) / folder)) {
      Collect(folder, endings, files);
    } else if (Exists(folder)) {
      files.push_back(ReadFile(folder));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

File ReadFile(const std::string& path) {
  std::ifstream in(fs::path(PP_SOURCE_ROOT) / path, std::ios::binary);
  return {path, std::string(std::istreambuf_iterator<char>(in), {})};
}

bool Exists(const std::string& path) {
  return fs::exists(fs::path(PP_SOURCE_ROOT) / path);
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  return lines;
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos;
       at = text.find(word, at + 1)) {
    const size_t after = at + word.size();
    if ((at == 0 || !IsWordChar(text[at - 1])) &&
        (after == text.size() || !IsWordChar(text[after]))) {
      return true;
    }
  }
  return false;
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

}  // namespace pp::meta
