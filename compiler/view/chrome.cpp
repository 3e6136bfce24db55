#include "compiler/view/chrome.h"

#include <fmt/format.h>

#include "runtime/trace/chrome_writer.h"

namespace pp::view {

std::string ChromeTrace(const Picture& picture) {
  constexpr double kMicrosPerTick = 1000.0 / ir::kTicksPerUnit;
  trace::ChromeHead head;
  head.ranks = static_cast<uint32_t>(picture.rows.size());
  head.title = picture.title.substr(0, picture.title.find(' '));
  head.extras = {{"times", "simulated"},
                 {"point", picture.title},
                 {"costs", picture.costs}};
  std::vector<trace::ChromeSpan> spans;
  for (uint32_t r = 0; r < picture.rows.size(); ++r) {
    for (const Box& box : picture.rows[r].simulated) {
      trace::ChromeSpan& span = spans.emplace_back();
      const Place& place = picture.places[box.place];
      span.rank = r;
      span.name =
          fmt::format("{} s{} m{}", ir::kOpNames[static_cast<size_t>(box.kind)],
                      box.stage, box.mb);
      span.category = "compute";
      span.begin_us = static_cast<double>(box.begin) * kMicrosPerTick;
      span.duration_us =
          static_cast<double>(box.end - box.begin) * kMicrosPerTick;
      span.site = place.at;
      if (!place.phase.empty()) {
        span.site += fmt::format("{}{}[{}]", span.site.empty() ? "" : " ",
                                 place.phase, box.iteration);
      }
    }
  }
  return trace::ChromeTrace(head, std::move(spans));
}

}  // namespace pp::view
