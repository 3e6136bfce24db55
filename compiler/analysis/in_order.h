// Every rank runs its operations in order, each as soon as its data is there:
// the walk behind simulation and the test for cycles. Linear in the number of
// operations, no graph is built.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pp::analysis {

// The one operation on another stage that `op` of `stage` reads from: F reads
// F of the stage before, B and I the B or I of the stage after.
struct Need {
  bool forward;  // an F; else a B or I
  uint32_t stage;
};
std::optional<Need> NeedOf(const ir::Schedule& schedule, uint32_t stage,
                           ir::OpKind kind);

// The stage whose operation of the same direction reads the result of this
// one, if any.
std::optional<uint32_t> ReaderOf(const ir::Schedule& schedule, uint32_t stage,
                                 ir::OpKind kind);

// `run(rank, position)` says whether the operation can run now, and runs it.
// A rank that cannot go on is asked again when the operation it may wait for
// has run. Returns, by rank, the position of the first operation not run (the
// size of the program where all ran).
std::vector<size_t> RunInOrder(const ir::Schedule& schedule,
                               llvm::function_ref<bool(Rank, size_t)> run);

// The same with nothing but the order: where every rank stops.
std::vector<size_t> RunUntilStuck(const ir::Schedule& schedule);

}  // namespace pp::analysis
