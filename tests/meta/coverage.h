// Which rows of a closed set (diagnostics, opcodes) no test shows.
#pragma once

#include <string>
#include <vector>

#include "tests/meta/tree.h"

namespace pp::meta {

struct Row {
  std::string name;                // how faults name it
  std::vector<std::string> words;  // a file with any of these covers it
};

struct Exemption {
  std::string name;
  std::string why;
};

// "NAME: no test shows it" for a row without exemption; "NAME: exempted (WHY),
// but PATH shows it" and "NAME: exempted, but there is no such row", so that
// exemptions do not outlive their reason.
std::vector<std::string> CoverageFaults(
    const std::vector<Row>& rows, const std::vector<Exemption>& exemptions,
    const std::vector<File>& files);

}  // namespace pp::meta
