#include "compiler/view/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/view/svg.h"
#include "page_text.h"

namespace pp::view {
namespace {

using Json = nlohmann::ordered_json;

double Units(ir::Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ir::kTicksPerUnit);
}

// A list a box: begin, end, kind, stage, chunk, micro-batch, place, iteration.
Json BoxesJson(const std::vector<Box>& boxes) {
  Json list = Json::array();
  for (const Box& box : boxes) {
    list.push_back({Units(box.begin), Units(box.end),
                    static_cast<int>(box.kind), box.stage, box.chunk, box.mb,
                    box.place, box.iteration});
  }
  return list;
}

Json RowJson(const Row& row) {
  Json memory = Json::array();
  for (const MemoryStep& step : row.memory) {
    memory.push_back({Units(step.at), step.held});
  }
  return {{"simulated", BoxesJson(row.simulated)},
          {"measured", BoxesJson(row.measured)},
          {"memory", std::move(memory)},
          {"busy", Units(row.busy)}};
}

Json PictureJson(const Picture& picture) {
  Json rows = Json::array(), places = Json::array(), kinds = Json::array();
  for (const Row& row : picture.rows) rows.push_back(RowJson(row));
  for (const Place& place : picture.places) {
    places.push_back({place.at, place.phase, place.text});
  }
  for (size_t k = 0; k < ir::kOpKinds; ++k) {
    Json shades = Json::array();
    for (uint32_t chunk = 0; chunk < 6; ++chunk) {
      shades.push_back(ColourOf(static_cast<ir::OpKind>(k), chunk));
    }
    kinds.push_back({{"name", ir::kOpNames[k]}, {"shades", std::move(shades)}});
  }
  const ir::Metrics& m = picture.metrics;
  return {{"title", picture.title},
          {"costs", picture.costs},
          {"unit", picture.unit},
          {"memory_unit", picture.memory_unit},
          {"makespan", Units(m.makespan)},
          {"end", Units(picture.end)},
          {"bubble_fraction", m.bubble_fraction},
          {"bubble_overhead", m.bubble_overhead},
          {"bubble_longest_stage", m.bubble_longest_stage},
          {"chunked", picture.chunked},
          {"measured_caption", picture.measured_caption},
          {"kinds", std::move(kinds)},
          {"places", std::move(places)},
          {"rows", std::move(rows)}};
}

// In a script element only `</` and `<!--` mean something.
std::string ForScript(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Result<std::string> Page(const Picture& picture) {
  if (CountBoxes(picture) > kMaxPageBoxes) {
    return Fail(UsageError(fmt::format(
        "{} operations are too many for a page (at most {}); write .json",
        CountBoxes(picture), kMaxPageBoxes)));
  }
  const std::string data = ForScript(PictureJson(picture).dump(
      -1, ' ', false, Json::error_handler_t::replace));
  std::string page = kPage;
  constexpr std::string_view kMark = "{{data}}";
  return page.replace(page.find(kMark), kMark.size(), data);
}

}  // namespace pp::view
