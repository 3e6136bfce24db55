#include "compiler/view/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace pp::view {
namespace {

using ir::Ticks;

struct Group {
  Ticks simulated = 0;
  std::vector<Ticks> measured;
};

using Groups = std::map<std::pair<ir::OpKind, uint32_t>, Group>;

Groups GroupsOf(const Picture& picture) {
  Groups groups;
  for (const Row& row : picture.rows) {
    for (const Box& box : row.simulated) {
      groups[{box.kind, box.stage}].simulated = box.end - box.begin;
    }
    for (const Box& box : row.measured) {
      groups[{box.kind, box.stage}].measured.push_back(box.end - box.begin);
    }
  }
  return groups;
}

double Units(Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ir::kTicksPerUnit);
}

double Apart(Ticks measured, Ticks simulated) {
  return simulated == 0 ? 0
                        : 100 * (static_cast<double>(measured) /
                                     static_cast<double>(simulated) -
                                 1);
}

std::string OpLine(const std::pair<ir::OpKind, uint32_t>& key, Group group) {
  auto& times = group.measured;
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  const Ticks median = times[n / 2];
  return fmt::format(
      "{:<4}{:>6}{:>7}{:>13.4f}{:>13.4f}{:>+9.1f} %{:>13.4f}"
      "{:>11.4f}\n",
      ir::kOpNames[static_cast<size_t>(key.first)], key.second, n,
      Units(group.simulated), Units(median), Apart(median, group.simulated),
      Units(times[n / 4]), Units(times[n - 1 - n / 4]));
}

struct Span {
  Ticks busy = 0, first = INT64_MAX, last = 0;
};

Span SpanOf(const std::vector<Box>& boxes) {
  Span span;
  for (const Box& box : boxes) {
    span.busy += box.end - box.begin;
    span.first = std::min(span.first, box.begin);
    span.last = std::max(span.last, box.end);
  }
  return span;
}

std::string SpanLine(const std::string& what, Ticks simulated, Ticks measured) {
  return fmt::format("{:<17}{:>13.4f}{:>13.4f}{:>+9.1f} %\n", what,
                     Units(simulated), Units(measured),
                     Apart(measured, simulated));
}

}  // namespace

std::string OpTable(const Picture& picture) {
  std::string text =
      fmt::format("{}\n\n{:<4}{:>6}{:>7}{:>13}{:>13}{:>11}{:>24}\n",
                  picture.measured_caption, "op", "stage", "times", "simulated",
                  "measured", "apart", "middle half of them");
  for (auto& [key, group] : GroupsOf(picture)) text += OpLine(key, group);
  text += "\n";
  Span whole;
  for (size_t r = 0; r < picture.rows.size(); ++r) {
    const Span span = SpanOf(picture.rows[r].measured);
    if (span.busy == 0) continue;
    text += SpanLine(fmt::format("rank {} busy", r), picture.rows[r].busy,
                     span.busy);
    whole.first = std::min(whole.first, span.first);
    whole.last = std::max(whole.last, span.last);
  }
  return text + SpanLine("makespan", picture.metrics.makespan,
                         whole.last - whole.first);
}

}  // namespace pp::view
