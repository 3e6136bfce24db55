// Adds communication to a checked schedule so that it cannot hang.
//
// Let D be the graph of compute operations, transfers (send and receive are
// one event), their ends and slot reuse; T its events in the order a
// simulation under the cost model starts them. Every rank issues its
// projection of T: the least unfinished event of T is then at the head of
// every participant's queue, so nothing hangs, for any buffering.
//
// Result: bytecode, every instruction with its debug entry; facts that only
// the driver knows (hashes, metrics) are left for emit::FillFacts.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/schedule.h"
#include "compiler/source/source_manager.h"
#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::lower {

struct Options {
  uint32_t receive_slots = 2;  // per (edge, kind); more where the graph needs
};

// Lowering in two halves, so that the programs of all ranks need not be in
// memory at once: T is worked out for all, then any rank's program is made.
class Lowering {
 public:
  // `schedule` passed check::CheckSchedule, and outlives the result.
  static Result<Lowering> Plan(const ir::Schedule& schedule,
                               const ir::CostModel& costs,
                               const source::SourceManager& sources,
                               const Options& options);
  Lowering(Lowering&&) noexcept;
  ~Lowering();

  // Everything but code, debug entries, slots and stashes of the ranks.
  const bytecode::Module& frame() const { return frame_; }

  // Fills those into `program`, a copy of the frame's. Once for each rank: what
  // was planned for it is dropped. Safe from several threads for different
  // ranks.
  Status Finish(Rank rank, bytecode::RankProgram& program);

 private:
  struct Work;
  Lowering(std::unique_ptr<Work> work, bytecode::Module frame);

  std::unique_ptr<Work> work_;
  bytecode::Module frame_;
};

// Both halves for all ranks.
Result<bytecode::Module> Lower(const ir::Schedule& schedule,
                               const ir::CostModel& costs,
                               const source::SourceManager& sources,
                               const Options& options);

}  // namespace pp::lower
