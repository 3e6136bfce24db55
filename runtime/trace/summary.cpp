#include "runtime/trace/summary.h"

#include <algorithm>

namespace pp::trace {
namespace {

double Ratio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

bool Worked(const RankSpan& span) { return span.end_ns > span.begin_ns; }

}  // namespace

Summary Summarize(std::span<const RankSpan> ranks) {
  Summary summary;
  int64_t first = 0, last = 0, longest = 0, most_work = 0, work = 0, idle = 0;
  bool any = false;
  for (const RankSpan& span : ranks) {
    if (!Worked(span)) continue;
    first = any ? std::min(first, span.begin_ns) : span.begin_ns;
    last = any ? std::max(last, span.end_ns) : span.end_ns;
    longest = std::max(longest, span.end_ns - span.begin_ns);
    most_work = std::max(most_work, span.busy_ns);
    any = true;
  }
  summary.makespan_ns = last - first;
  for (const RankSpan& span : ranks) {
    summary.busy_ns.push_back(span.busy_ns);
    summary.idle_ns.push_back(summary.makespan_ns - span.busy_ns);
    work += span.busy_ns;
    idle += summary.idle_ns.back();
  }
  const auto count = static_cast<int64_t>(ranks.size());
  summary.bubble_fraction = Ratio(idle, count * summary.makespan_ns);
  summary.bubble_overhead = Ratio(idle, work);
  summary.bubble_longest_stage = Ratio(longest - most_work, longest);
  return summary;
}

std::vector<RankSpan> SpansOf(std::span<const RankTrace> traces,
                              uint32_t step) {
  std::vector<RankSpan> spans(traces.size());
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    RankSpan& span = spans[rank];
    for (const Event& event : traces[rank]) {
      if (event.kind != EventKind::kCompute || event.step != step) continue;
      if (!Worked(span)) span.begin_ns = event.begin_ns;
      span.begin_ns = std::min(span.begin_ns, event.begin_ns);
      span.end_ns = std::max(span.end_ns, event.end_ns);
      span.busy_ns += event.end_ns - event.begin_ns;
    }
  }
  return spans;
}

}  // namespace pp::trace
