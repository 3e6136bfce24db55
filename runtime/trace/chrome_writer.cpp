#include "runtime/trace/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "runtime/bytecode/text.h"

namespace pp::trace {
namespace {

using Json = nlohmann::ordered_json;

Json Named(const char* what, uint32_t rank, uint32_t track,
           const std::string& name) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", rank},
          {"tid", track},
          {"args", {{"name", name}}}};
}

// Names of processes and tracks.
void AppendHead(const ChromeHead& head, Json* events) {
  for (uint32_t rank = 0; rank < head.ranks; ++rank) {
    events->push_back(
        Named("process_name", rank, 0, fmt::format("rank {}", rank)));
    events->push_back({{"name", "process_sort_index"},
                       {"ph", "M"},
                       {"pid", rank},
                       {"tid", 0},
                       {"args", {{"sort_index", rank}}}});
    events->push_back(Named("thread_name", rank, 0, "compute"));
    for (uint32_t lane = 0; lane < head.lanes; ++lane) {
      events->push_back(
          Named("thread_name", rank, 1 + lane, fmt::format("lane {}", lane)));
    }
  }
}

Json EventOf(const ChromeSpan& span) {
  return {{"name", span.name},
          {"cat", span.category},
          {"ph", "X"},
          {"pid", span.rank},
          {"tid", span.track},
          {"ts", span.begin_us},
          {"dur", span.duration_us},
          {"args",
           {{"step", span.step},
            {"instruction", span.instruction},
            {"site", span.site}}}};
}

constexpr const char* CategoryOf(EventKind kind) {
  switch (kind) {
    case EventKind::kCompute:
      return "compute";
    case EventKind::kWait:
      return "wait";
    case EventKind::kTransfer:
      return "transfer";
    case EventKind::kMeta:
      return "meta";
  }
  return "";
}

// A wait is named for the transfer it waits for: the last SEND or RECV before
// it on the same slot.
std::string WaitName(const bytecode::RankProgram& program, uint32_t pc) {
  namespace op = bytecode::op;
  const SlotId slot = op::Wait::Of(program.code[pc]).slot;
  for (uint32_t back = pc; back-- > 0;) {
    const bytecode::Instr& instr = program.code[back];
    const bool issues = (instr.op == bytecode::Opcode::kSend &&
                         op::Send::Of(instr).slot == slot) ||
                        (instr.op == bytecode::Opcode::kRecv &&
                         op::Recv::Of(instr).slot == slot);
    if (issues) return "WAIT " + EventName(program, instr);
  }
  return "WAIT";
}

ChromeSpan SpanOf(const bytecode::Module& module, uint32_t rank,
                  const Event& event, int64_t origin_ns) {
  const bytecode::RankProgram& program = module.programs[rank];
  ChromeSpan span;
  span.rank = rank;
  span.track = event.kind == EventKind::kTransfer ? 1 + event.lane : 0;
  span.name = event.kind == EventKind::kWait
                  ? WaitName(program, event.pc)
                  : EventName(program, program.code[event.pc]);
  span.category = CategoryOf(event.kind);
  span.begin_us = static_cast<double>(event.begin_ns - origin_ns) / 1e3;
  span.duration_us = static_cast<double>(event.end_ns - event.begin_ns) / 1e3;
  span.step = event.step;
  span.instruction = PrintInstr(program.code[event.pc]);
  span.site = PrintSite(module, Rank(rank), Pc(event.pc));
  return span;
}

int64_t FirstBegin(std::span<const RankTrace> traces) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const RankTrace& trace : traces) {
    for (const Event& event : trace) first = std::min(first, event.begin_ns);
  }
  return first;
}

}  // namespace

std::string ChromeTrace(const ChromeHead& head, std::vector<ChromeSpan> spans) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const ChromeSpan& a, const ChromeSpan& b) {
                     return std::tie(a.rank, a.track, a.begin_us) <
                            std::tie(b.rank, b.track, b.begin_us);
                   });
  Json events = Json::array();
  AppendHead(head, &events);
  for (const ChromeSpan& span : spans) events.push_back(EventOf(span));
  Json other = {{"schedule", head.title}};
  for (const auto& [key, value] : head.extras) other[key] = value;
  const Json file = {{"displayTimeUnit", "ms"},
                     {"otherData", std::move(other)},
                     {"traceEvents", std::move(events)}};
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ChromeTrace(const bytecode::Module& module,
                        std::span<const RankTrace> traces) {
  ChromeHead head{module.ranks(), module.lanes, module.facts.schedule, {}};
  head.extras.emplace_back("times", "measured");
  const int64_t origin = FirstBegin(traces);
  std::vector<ChromeSpan> spans;
  for (uint32_t rank = 0; rank < traces.size(); ++rank) {
    for (const Event& event : traces[rank]) {
      spans.push_back(SpanOf(module, rank, event, origin));
    }
  }
  return ChromeTrace(head, std::move(spans));
}

}  // namespace pp::trace
