#include "tests/meta/coverage.h"

#include <algorithm>

namespace pp::meta {
namespace {

// The first file that shows the row, by path; empty if none does.
std::string ShownIn(const Row& row, const std::vector<File>& files) {
  for (const File& file : files) {
    for (const std::string& word : row.words) {
      if (HasWord(file.text, word)) return file.path;
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> CoverageFaults(
    const std::vector<Row>& rows, const std::vector<Exemption>& exemptions,
    const std::vector<File>& files) {
  std::vector<std::string> faults;
  const auto exemption_of = [&](const std::string& name) {
    return std::find_if(exemptions.begin(), exemptions.end(),
                        [&](const auto& e) { return e.name == name; });
  };
  for (const Row& row : rows) {
    const std::string shown = ShownIn(row, files);
    const auto exemption = exemption_of(row.name);
    const bool exempted = exemption != exemptions.end();
    if (shown.empty() && !exempted) {
      faults.push_back(row.name + ": no test shows it");
    } else if (!shown.empty() && exempted) {
      faults.push_back(row.name + ": exempted (" + exemption->why + "), but " +
                       shown + " shows it");
    }
  }
  for (const Exemption& exemption : exemptions) {
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) {
          return row.name == exemption.name;
        })) {
      faults.push_back(exemption.name + ": exempted, but there is no such row");
    }
  }
  return faults;
}

}  // namespace pp::meta
