#include "tests/meta/document.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/meta/tree.h"

namespace pp::meta {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string Trimmed(const std::string& line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

// Numbers become #, blanks one blank, rules of any length one dash.
std::string WithoutNumbers(const std::string& line) {
  static const std::regex kNumber("[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  static const std::regex kBlanks("[ \t]+");
  static const std::regex kRules("--+");
  std::string text = std::regex_replace(line, kNumber, "#");
  text = std::regex_replace(text, kBlanks, " ");
  return std::regex_replace(text, kRules, "-");
}

bool IsSame(const std::string& expected, const std::string& actual,
            bool varies) {
  if (!varies) return Trimmed(expected) == Trimmed(actual);
  return WithoutNumbers(Trimmed(expected)) == WithoutNumbers(Trimmed(actual));
}

// expected[e..] against actual[a..]; the furthest expected line that was
// reached without a match is kept in `stuck`.
bool Match(const std::vector<std::string>& expected, size_t e,
           const std::vector<std::string>& actual, size_t a, bool varies,
           size_t& stuck) {
  stuck = std::max(stuck, e);
  if (e == expected.size()) return a == actual.size();
  if (Trimmed(expected[e]) == "...") {
    for (size_t skip = a; skip <= actual.size(); ++skip) {
      if (Match(expected, e + 1, actual, skip, varies, stuck)) return true;
    }
    return false;
  }
  return a < actual.size() && IsSame(expected[e], actual[a], varies) &&
         Match(expected, e + 1, actual, a + 1, varies, stuck);
}

void DropBlankEnd(std::vector<std::string>& lines) {
  while (!lines.empty() && Trimmed(lines.back()).empty()) lines.pop_back();
}

std::vector<std::string> AllMatches(const std::string& text,
                                    const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
       it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

}  // namespace

bool Block::Has(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::vector<Block> Blocks(std::string_view markdown) {
  std::vector<Block> blocks;
  bool inside = false;
  size_t number = 0;
  for (const std::string& line : Lines(markdown)) {
    ++number;
    if (StartsWith(line, "```")) {
      if (!inside) blocks.push_back({Words(line.substr(3)), number, {}});
      inside = !inside;
    } else if (inside) {
      blocks.back().body.push_back(line);
    }
  }
  return blocks;
}

std::vector<Command> Commands(const Block& console) {
  std::vector<Command> commands;
  size_t number = console.line;
  for (const std::string& line : console.body) {
    ++number;
    if (StartsWith(line, "$ ")) {
      commands.push_back({line.substr(2), number, {}});
    } else if (!commands.empty()) {
      commands.back().output.push_back(line);
    }
  }
  return commands;
}

std::string OutputFault(const Command& command, bool varies,
                        const std::vector<std::string>& actual) {
  std::vector<std::string> expected = command.output;
  std::vector<std::string> got = actual;
  DropBlankEnd(expected);
  DropBlankEnd(got);
  size_t stuck = 0;
  if (Match(expected, 0, got, 0, varies, stuck)) return "";
  std::string fault = "line " + std::to_string(command.line) + ": `" +
                      command.text + "` does not print ";
  fault += stuck < expected.size() ? "`" + expected[stuck] + "`"
                                   : "only what is shown";
  fault += "; it prints:\n";
  for (const std::string& line : got) fault += line + "\n";
  return fault;
}

std::vector<std::string> LocalLinks(std::string_view markdown) {
  static const std::regex kLink("\\]\\(([^)#\\s]+)[^)]*\\)");
  std::vector<std::string> links;
  for (const std::string& target : AllMatches(std::string(markdown), kLink)) {
    if (target.find("://") == target.npos) links.push_back(target);
  }
  return links;
}

std::vector<std::string> NamedPaths(std::string_view markdown,
                                    const std::vector<std::string>& roots) {
  static const std::regex kCode("`([^`\n]+)`");
  std::vector<std::string> texts = AllMatches(std::string(markdown), kCode);
  for (const Block& block : Blocks(markdown)) {
    if (block.Has("sh")) {
      texts.insert(texts.end(), block.body.begin(), block.body.end());
    }
  }
  static const std::regex kPath("(?:\\./)?([A-Za-z0-9_.][A-Za-z0-9_./-]*)");
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    for (const std::string& word : Words(text)) {
      std::smatch match;
      if (!std::regex_match(word, match, kPath)) continue;
      const std::string path = match[1];
      if (path.find("NAME") != path.npos) continue;  // stands for any name
      const std::string root = path.substr(0, path.find('/'));
      const bool named = root != path && std::find(roots.begin(), roots.end(),
                                                   root) != roots.end();
      if (named || StartsWith(word, "./")) paths.push_back(path);
    }
  }
  return paths;
}

std::vector<std::string> NamedPresets(std::string_view markdown) {
  static const std::regex kPreset("--preset[= ]([a-z-]+)");
  return AllMatches(std::string(markdown), kPreset);
}

}  // namespace pp::meta
