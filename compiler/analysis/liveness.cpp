#include "compiler/analysis/liveness.h"

#include <algorithm>

#include "compiler/ir/memory_model.h"

namespace pp::analysis {

std::vector<uint32_t> PeakActivations(const ir::Schedule& schedule) {
  std::vector<uint32_t> peaks;
  peaks.reserve(schedule.programs.size());
  for (const auto& program : schedule.programs) {
    int64_t alive = 0;
    int64_t peak = 0;
    for (const ir::Op& op : program) {
      const auto change = ir::ChangeOf(op.kind, 1, 1);
      alive += change.begin + change.end;
      peak = std::max(peak, alive);
    }
    peaks.push_back(static_cast<uint32_t>(peak));
  }
  return peaks;
}

}  // namespace pp::analysis
