#include "compiler/check/sets.h"

#include <fmt/format.h>

#include <algorithm>

namespace pp::check {

std::string Ranges(const std::vector<uint32_t>& values) {
  std::string text;
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (end - i == 2) end = i + 1;  // "3, 4" reads better than "3..4"
    if (!text.empty()) text += ", ";
    text += end - i == 1 ? fmt::format("{}", values[i])
                         : fmt::format("{}..{}", values[i], values[end - 1]);
    i = end;
  }
  return text;
}

std::string RankSet(const std::vector<uint32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + Ranges(ranks);
}

namespace {

struct Shared {
  std::vector<uint32_t> ranks;
  const std::vector<uint32_t>* members;
};

std::vector<Shared> Share(const RankedSets& sets) {
  std::vector<Shared> entries;
  for (const auto& [rank, members] : sets) {
    const auto same = std::ranges::find_if(
        entries, [&](const Shared& e) { return *e.members == members; });
    if (same != entries.end()) {
      same->ranks.push_back(rank.value);
    } else {
      entries.push_back({{rank.value}, &members});
    }
  }
  return entries;
}

}  // namespace

std::string Join(const RankedSets& sets, const std::string& phrase) {
  constexpr size_t kShown = 4;
  const std::vector<Shared> entries = Share(sets);
  std::string text;
  size_t more = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i >= kShown) {
      more += entries[i].ranks.size();
      continue;
    }
    text += fmt::format("{}{}: {}m = {}", i == 0 ? "" : "; ",
                        RankSet(entries[i].ranks), i == 0 ? phrase + " " : "",
                        Ranges(*entries[i].members));
  }
  if (more > 0) {
    text += fmt::format("; and on {} more rank{}", more, more == 1 ? "" : "s");
  }
  return text;
}

}  // namespace pp::check
