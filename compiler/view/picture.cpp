#include "compiler/view/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/in_order.h"

namespace pp::view {
namespace {

using ir::OpKind;
using ir::Ticks;

double FixedBytes(const PictureInput& input, uint32_t rank) {
  if (rank >= input.rank_memory.size()) return 0;
  const ir::RankMemory& memory = input.rank_memory[rank];
  return static_cast<double>(memory.Total() - memory.activations);
}

void Step(std::vector<MemoryStep>& steps, Ticks at, double by) {
  if (by == 0) return;
  if (steps.back().at == at) {
    steps.back().held += by;
  } else {
    steps.push_back({at, steps.back().held + by});
  }
}

std::vector<MemoryStep> MemoryOf(const PictureInput& input, uint32_t rank,
                                 const std::vector<Box>& boxes) {
  std::vector<MemoryStep> steps = {{0, FixedBytes(input, rank)}};
  for (const Box& box : boxes) {
    ir::StageMemory stage{.act = 1, .after_i = 1};  // counted, not weighed
    if (input.memory != nullptr) stage = input.memory->Of(box.stage);
    const auto change = ir::ChangeOf(box.kind, stage.act, stage.after_i);
    Step(steps, box.begin, static_cast<double>(change.begin));
    Step(steps, box.end, static_cast<double>(change.end));
  }
  return steps;
}

std::vector<Box> BoxesOf(const PictureInput& input, uint32_t rank) {
  std::vector<Box> boxes;
  const auto& ops = input.schedule.programs[rank];
  boxes.reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const ir::Op& op = ops[i];
    const uint32_t stage = input.schedule.StageOf(Rank(rank), op.chunk);
    const Ticks begin = input.timeline.start[rank][i];
    boxes.push_back({begin,
                     begin + input.costs.Shown(input.schedule, Rank(rank), i),
                     op.kind, stage, op.chunk, op.mb, op.site, op.iteration,
                     input.schedule.StartsPair(Rank(rank), i)});
  }
  return boxes;
}

// A result leaves when it is computed.
std::vector<Transfer> TransfersOf(const PictureInput& input,
                                  const std::vector<Row>& rows) {
  std::vector<Transfer> transfers;
  for (uint32_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].simulated.size(); ++i) {
      const Box& box = rows[r].simulated[i];
      const Ticks end = rows[r].simulated[i + (box.joined ? 1 : 0)].end;
      const auto reader =
          analysis::ReaderOf(input.schedule, box.stage, box.kind);
      if (!reader) continue;
      const Rank to = input.schedule.placement.home[*reader].rank;
      if (to == Rank(r)) continue;
      transfers.push_back({r, to.value, box.kind != OpKind::kF, box.stage,
                           box.mb, end,
                           end + input.costs.Transfer(Rank(r), to)});
    }
  }
  return transfers;
}

Place PlaceOf(const source::SourceManager& sources, const ir::Site& site) {
  Place place;
  place.phase = site.phase;
  place.at = site.origin;
  if (!site.span.valid()) return place;
  const auto at = sources.Resolve(site.span.file, site.span.begin);
  place.at =
      fmt::format("{}:{}:{}", sources.Name(site.span.file), at.line, at.column);
  place.text = sources.Line(site.span.file, at.line).trim().str();
  return place;
}

}  // namespace

Picture MakePicture(const PictureInput& input, std::string title) {
  Picture picture;
  picture.title = std::move(title);
  picture.costs = ir::Print(input.costs);
  picture.unit = input.costs.timed ? "ms" : "";
  picture.memory_unit = input.memory != nullptr ? "B" : "activations";
  picture.metrics = input.metrics;
  for (const ir::Site& site : input.schedule.sites) {
    picture.places.push_back(PlaceOf(input.sources, site));
  }
  for (uint32_t r = 0; r < input.schedule.ranks; ++r) {
    Row& row = picture.rows.emplace_back();
    row.simulated = BoxesOf(input, r);
    row.memory = MemoryOf(input, r, row.simulated);
    row.busy = input.metrics.ranks[r].busy;
    picture.chunked |= input.schedule.placement.stage[r].size() > 1;
    for (const Box& box : row.simulated) {
      picture.end = std::max(picture.end, box.end);
    }
  }
  picture.transfers = TransfersOf(input, picture.rows);
  return picture;
}

size_t CountBoxes(const Picture& picture) {
  size_t boxes = 0;
  for (const Row& row : picture.rows) {
    boxes += row.simulated.size() + row.measured.size();
  }
  return boxes;
}

std::string Label(const Picture& picture, const Box& box) {
  std::string label(ir::kOpNames[static_cast<size_t>(box.kind)]);
  if (picture.chunked) label += static_cast<char>('a' + box.chunk % 26);
  label += std::to_string(box.mb);
  return box.joined ? label + '&' : label;
}

}  // namespace pp::view
