#include "compiler/view/chrome.h"

#include <fmt/format.h>

#include "runtime/trace/chrome_writer.h"

namespace pp::view {

namespace {

constexpr double kMicrosPerTick = 1000.0 / ir::kTicksPerUnit;

trace::ChromeSpan SpanOf(const Picture& picture, uint32_t rank,
                         const Box& box) {
  trace::ChromeSpan span;
  const Place& place = picture.places[box.place];
  span.rank = rank;
  span.name =
      fmt::format("{} s{} m{}", ir::kOpNames[static_cast<size_t>(box.kind)],
                  box.stage, box.mb);
  span.category = "compute";
  span.begin_us = static_cast<double>(box.begin) * kMicrosPerTick;
  span.duration_us = static_cast<double>(box.end - box.begin) * kMicrosPerTick;
  span.site = place.at;
  if (!place.phase.empty()) {
    span.site += fmt::format("{}{}[{}]", span.site.empty() ? "" : " ",
                             place.phase, box.iteration);
  }
  return span;
}

// Both ends of a transfer, as the machine records them: one lane for
// activations, one for gradients.
void AddTransfer(const Transfer& transfer,
                 std::vector<trace::ChromeSpan>& spans) {
  trace::ChromeSpan span;
  span.track = transfer.gradient ? 2 : 1;
  span.category = "transfer";
  span.begin_us = static_cast<double>(transfer.begin) * kMicrosPerTick;
  span.duration_us =
      static_cast<double>(transfer.end - transfer.begin) * kMicrosPerTick;
  const std::string what =
      fmt::format("{} s{} m{}", transfer.gradient ? "grad" : "act",
                  transfer.stage, transfer.mb);
  span.rank = transfer.from;
  span.name = "SEND " + what;
  spans.push_back(span);
  span.rank = transfer.to;
  span.name = "RECV " + what;
  spans.push_back(span);
}

}  // namespace

std::string ChromeTrace(const Picture& picture) {
  trace::ChromeHead head;
  head.ranks = static_cast<uint32_t>(picture.rows.size());
  head.lanes = picture.transfers.empty() ? 0 : 2;
  head.title = picture.title.substr(0, picture.title.find(' '));
  head.extras = {{"times", "simulated"},
                 {"point", picture.title},
                 {"costs", picture.costs}};
  std::vector<trace::ChromeSpan> spans;
  for (uint32_t r = 0; r < picture.rows.size(); ++r) {
    for (const Box& box : picture.rows[r].simulated) {
      spans.push_back(SpanOf(picture, r, box));
    }
  }
  for (const Transfer& transfer : picture.transfers) {
    AddTransfer(transfer, spans);
  }
  return trace::ChromeTrace(head, std::move(spans));
}

}  // namespace pp::view
