// A picture of a small schedule, for tests.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/simulate.h"
#include "compiler/view/picture.h"
#include "tests/support/op_lists.h"

namespace pp::view::testing {

inline Picture PictureOf(const ir::Schedule& schedule, const std::string& title,
                         const ir::CostModel& costs = {},
                         const ir::MemoryModel* memory = nullptr,
                         const std::vector<ir::RankMemory>& ranks = {}) {
  const source::SourceManager sources;
  analysis::Timeline timeline;
  const ir::Metrics metrics = analysis::Simulate(schedule, costs, &timeline);
  return MakePicture(
      {schedule, timeline, costs, metrics, memory, ranks, sources}, title);
}

}  // namespace pp::view::testing
