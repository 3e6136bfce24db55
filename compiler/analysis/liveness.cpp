#include "compiler/analysis/liveness.h"

#include <algorithm>

namespace pp::analysis {

std::vector<uint32_t> PeakActivations(const ir::Schedule& schedule) {
  std::vector<uint32_t> peaks;
  peaks.reserve(schedule.programs.size());
  for (const auto& program : schedule.programs) {
    int64_t alive = 0;
    int64_t peak = 0;
    for (const ir::Op& op : program) {
      switch (op.kind) {
        case ir::OpKind::kF:
          peak = std::max(peak, ++alive);
          break;
        case ir::OpKind::kB:
        case ir::OpKind::kW:
          --alive;
          break;
        case ir::OpKind::kI:
          break;
      }
    }
    peaks.push_back(static_cast<uint32_t>(peak));
  }
  return peaks;
}

}  // namespace pp::analysis
