// The layering of the house, read from #include lines: see layers.txt.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/meta/tree.h"

namespace pp::meta {

struct Layering {
  // Folder -> folders it may include besides itself.
  std::map<std::string, std::set<std::string>> layers;
  // Prefix of an include -> folders that may have it.
  std::map<std::string, std::vector<std::string>> only;
  std::vector<std::string> errors;  // lines that could not be read
};

Layering ParseLayering(std::string_view text);

// Folders of the table that reach themselves through it, "a -> b -> a".
std::vector<std::string> TableCycles(const Layering& layering);

// "path:line: why", one for each forbidden include: a folder that may not be
// seen, a library outside its border, a .cpp; and `using namespace` in a
// header. Folders of compiler/ and runtime/ must be in the table.
std::vector<std::string> Violations(const Layering& layering,
                                    const std::vector<File>& files);

}  // namespace pp::meta
