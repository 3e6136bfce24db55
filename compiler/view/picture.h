// A timeline as data, ready to be drawn: what every rank did when, where that
// stands in the source, and what it held in memory. One picture is made of a
// simulation, and a measured run may be laid beside it; svg, page and chrome
// draw it.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/simulate.h"
#include "compiler/ir/cost_model.h"
#include "compiler/ir/memory_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "compiler/source/source_manager.h"

namespace pp::view {

struct Box {  // one operation
  ir::Ticks begin = 0, end = 0;
  ir::OpKind kind{};
  uint32_t stage = 0;
  uint32_t chunk = 0;  // of its rank
  uint32_t mb = 0;
  uint32_t place = 0;      // into Picture::places
  uint32_t iteration = 0;  // of the innermost loop there
  bool joined = false;     // runs at once with the next one
};

struct Transfer {  // simulated, from rank to rank
  uint32_t from = 0, to = 0;
  bool gradient = false;  // else an activation
  uint32_t stage = 0;     // that computed it
  uint32_t mb = 0;
  ir::Ticks begin = 0, end = 0;
};

struct MemoryStep {  // from `at` on
  ir::Ticks at = 0;
  double held = 0;
};

struct Row {  // a rank
  std::vector<Box> simulated;
  std::vector<Box> measured;  // empty where nothing was measured
  std::vector<MemoryStep> memory;
  ir::Ticks busy = 0;
};

struct Place {
  std::string at;     // "FILE:LINE:COLUMN", or empty
  std::string phase;  // or empty
  std::string text;   // the source line
};

struct Picture {
  std::string title;  // "gpipe P=4 M=8"
  std::string costs;
  std::string unit;         // of time: "ms", or "" where costs have none
  std::string memory_unit;  // "B", or "activations" of one stage
  std::vector<Row> rows;
  std::vector<Transfer> transfers;
  std::vector<Place> places;
  ir::Metrics metrics;
  ir::Ticks end = 0;             // of the last box, simulated or measured
  bool chunked = false;          // some rank holds several stages
  std::string measured_caption;  // where and how; empty: nothing was measured
};

// `memory` null: activations are counted, not weighed. `fixed`: bytes that a
// rank holds all the time, by rank; may be empty.
struct PictureInput {
  const ir::Schedule& schedule;
  const analysis::Timeline& timeline;
  const ir::CostModel& costs;
  const ir::Metrics& metrics;
  const ir::MemoryModel* memory = nullptr;
  const std::vector<ir::RankMemory>& rank_memory;
  const source::SourceManager& sources;
};

// Measured rows are empty; trace_file.h fills them.
Picture MakePicture(const PictureInput& input, std::string title);

size_t CountBoxes(const Picture& picture);

// "F3", with the chunk as a letter where ranks hold several: "Fb3". "F3&" is
// the first of an overlapped pair, whose time the two boxes share.
std::string Label(const Picture& picture, const Box& box);

}  // namespace pp::view
