#include "compiler/view/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

namespace pp::view {
namespace {

using Json = nlohmann::json;
using ir::Ticks;

struct Span {  // an operation of the trace
  uint32_t rank = 0;
  std::string name;
  double begin_us = 0, end_us = 0;
};
constexpr double kMostTicks = 1e17;  // three years of nanoseconds
using Steps = std::map<uint64_t, std::vector<Span>>;

Status NotOurs(const std::string& name, const std::string& what) {
  return InputError(
      fmt::format("{}: not a trace of `pprun --trace`: {}", name, what));
}

// NaN: it is no number.
double NumberOf(const Json& event, const char* key) {
  if (!event.is_object()) return NAN;
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>()
                                                    : NAN;
}

bool IsCount(double value, double most) { return value >= 0 && value <= most; }

Status ReadEvent(const Json& event, size_t index, const std::string& name,
                 Steps& steps) {
  if (!event.is_object()) {
    return NotOurs(name, fmt::format("event {} is no object", index));
  }
  if (event.value("ph", Json()) != "X") return OkStatus();
  if (event.value("cat", Json()) != "compute") return OkStatus();
  const double rank = NumberOf(event, "pid");
  const double begin = NumberOf(event, "ts");
  const double duration = NumberOf(event, "dur");
  const double step = NumberOf(event.value("args", Json()), "step");
  const Json label = event.value("name", Json());
  if (!IsCount(rank, 1e6) || !IsCount(step, 1e15) ||
      !(std::abs(begin) <= 1e15) || !IsCount(duration, 1e15) ||
      !label.is_string()) {
    return NotOurs(
        name,
        fmt::format("event {} lacks `pid`, `ts`, `dur`, `name` or `args.step`",
                    index));
  }
  steps[static_cast<uint64_t>(step)].push_back({static_cast<uint32_t>(rank),
                                                label.get<std::string>(), begin,
                                                begin + duration});
  return OkStatus();
}

Result<Steps> ReadSteps(std::string_view text, const std::string& name,
                        const Picture& picture) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Fail(NotOurs(name, "it is no JSON"));
  const auto events = json.is_object() ? json.find("traceEvents") : json.end();
  if (!json.is_object() || events == json.end() || !events->is_array()) {
    return Fail(NotOurs(name, "it has no list `traceEvents`"));
  }
  const auto other = json.find("otherData");
  if (other == json.end() || !other->is_object() ||
      other->value("times", Json()) != "measured") {
    return Fail(NotOurs(name, "`otherData.times` is not `measured`"));
  }
  const Json schedule = other->value("schedule", Json());
  const std::string wanted = picture.title.substr(0, picture.title.find(' '));
  if (schedule != wanted) {
    return Fail(InputError(fmt::format("{}: it is a run of {}, not of `{}`",
                                       name, schedule.dump(), wanted)));
  }
  Steps steps;
  for (size_t i = 0; i < events->size(); ++i) {
    PP_RETURN_IF_ERROR(ReadEvent((*events)[i], i, name, steps));
  }
  if (steps.empty()) return Fail(NotOurs(name, "nothing was computed in it"));
  return steps;
}

double Makespan(const std::vector<Span>& spans) {
  double first = spans.front().begin_us, last = spans.front().end_us;
  for (const Span& span : spans) {
    first = std::min(first, span.begin_us);
    last = std::max(last, span.end_us);
  }
  return last - first;
}

Result<uint64_t> ChooseStep(const Steps& steps, const std::string& name,
                            std::optional<uint64_t> asked) {
  if (asked) {
    if (steps.count(*asked) > 0) return *asked;
    return Fail(InputError(fmt::format("{}: it has no step {}; it has {}..{}",
                                       name, *asked, steps.begin()->first,
                                       steps.rbegin()->first)));
  }
  std::vector<std::pair<double, uint64_t>> order;
  for (const auto& [step, spans] : steps) {
    if (steps.size() == 1 || step != steps.begin()->first) {
      order.emplace_back(Makespan(spans), step);
    }
  }
  std::sort(order.begin(), order.end());
  return order[order.size() / 2].second;
}

using Key = std::tuple<uint32_t, std::string>;  // rank, "F s0 m3"

std::map<Key, const Box*> BoxesByName(const Picture& picture) {
  std::map<Key, const Box*> boxes;
  for (uint32_t r = 0; r < picture.rows.size(); ++r) {
    for (const Box& box : picture.rows[r].simulated) {
      boxes[{r, fmt::format("{} s{} m{}",
                            ir::kOpNames[static_cast<size_t>(box.kind)],
                            box.stage, box.mb)}] = &box;
    }
  }
  return boxes;
}

// Ticks of one microsecond of the trace.
double ScaleOf(const Picture& picture, const std::vector<Span>& spans) {
  if (!picture.unit.empty()) return ir::kTicksPerUnit / 1000.0;
  double simulated = 0, measured = 0;
  for (const Row& row : picture.rows) {
    simulated += static_cast<double>(row.busy);
  }
  for (const Span& span : spans) measured += span.end_us - span.begin_us;
  return measured > 0 ? simulated / measured : 1;
}

}  // namespace

Status AddMeasured(std::string_view json, const std::string& name,
                   std::optional<uint64_t> step, Picture* picture) {
  PP_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(json, name, *picture));
  PP_ASSIGN_OR_RETURN(const uint64_t chosen, ChooseStep(steps, name, step));
  const std::vector<Span>& spans = steps.at(chosen);
  auto boxes = BoxesByName(*picture);
  const double scale = ScaleOf(*picture, spans);
  double origin = spans.front().begin_us;
  for (const Span& span : spans) origin = std::min(origin, span.begin_us);
  for (const Span& span : spans) {
    const auto found = boxes.find({span.rank, span.name});
    if (found == boxes.end()) {
      return InputError(fmt::format(
          "{}: step {}: rank {} ran `{}`, which the schedule does not have "
          "there, or not twice; are P and M the same?",
          name, chosen, span.rank, span.name));
    }
    Box box = *found->second;
    const double begin = (span.begin_us - origin) * scale;
    const double end = (span.end_us - origin) * scale;
    if (!(end <= kMostTicks)) {
      return NotOurs(name,
                     fmt::format("step {} lasts longer than any", chosen));
    }
    box.begin = std::llround(begin);
    box.end = std::llround(end);
    picture->rows[span.rank].measured.push_back(box);
    picture->end = std::max(picture->end, box.end);
    boxes.erase(found);
  }
  if (!boxes.empty()) {
    const auto& [rank, label] = boxes.begin()->first;
    return InputError(
        fmt::format("{}: step {}: rank {} did not run `{}`; are P and M the "
                    "same?",
                    name, chosen, rank, label));
  }
  const double makespan_ms = Makespan(spans) / 1000;
  picture->measured_caption =
      fmt::format("measured: step {} of {}, makespan {:.3f} ms{}", chosen, name,
                  makespan_ms,
                  picture->unit.empty()
                      ? ", stretched so that all work together is as simulated"
                      : "");
  return OkStatus();
}

}  // namespace pp::view
