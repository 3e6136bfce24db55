// How often each (stage, micro-batch) is run as F, B, I and W, and what of it
// breaks the rule "one F, and one B or one I and one W". Used for schedules
// and for bytecode alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/check/sets.h"
#include "compiler/ir/schedule.h"

namespace pp::check {

class Coverage {
 public:
  Coverage(uint32_t stages, uint32_t micro_batches)
      : stages_(stages),
        micro_batches_(micro_batches),
        cells_(size_t{stages} * micro_batches, 0) {}

  void Count(uint32_t stage, uint32_t mb, ir::OpKind kind);
  // 0, 1, 2; 3 means three or more.
  unsigned Times(uint32_t stage, uint32_t mb, ir::OpKind kind) const;

  uint32_t stages() const { return stages_; }
  uint32_t micro_batches() const { return micro_batches_; }

 private:
  uint32_t stages_, micro_batches_;
  std::vector<uint8_t> cells_;  // two bits for each kind
};

enum class CoverageFault : uint8_t {
  kMissing,
  kDoubled,
  kBesides,  // an I or W although a B, which includes it, is there
};

// All that is wrong in the same way with one operation of one chunk.
struct CoverageFinding {
  CoverageFault fault;
  ir::OpKind kind;
  uint32_t chunk;
  RankedSets where;
};

// Who is asked to run a stage.
struct Holder {
  Rank rank;
  uint32_t chunk;
  uint32_t stage;
};

// In the order of fault, operation, chunk. `holders` ascend by rank.
std::vector<CoverageFinding> FindFaults(const Coverage& coverage,
                                        const std::vector<Holder>& holders);

// "ranks 0..3: `B[0]` missing for m = 6..7".
std::string Message(const CoverageFinding& finding);
std::string HelpText(const CoverageFinding& finding);

}  // namespace pp::check
