// Any rank but 0 of a run in several processes: it comes to rank 0, runs its
// program, tells rank 0 about each step and goes on when told to.
#pragma once

#include <memory>

#include "runtime/launch/connection.h"
#include "runtime/launch/crew.h"
#include "runtime/launch/messages.h"
#include "runtime/launch/world.h"

namespace pp::launch {

// Says hello, answers rank 0's questions, waits until all have come. Gives the
// transport's meeting place; or why there will be no run.
Result<std::string> Introduce(Connection& connection, const Hello& mine,
                              Deadline deadline);

struct WorkerResult {
  Status status;           // of the first failure, of this rank or of another
  std::string place;       // after a failure: where this rank was
  bool told = false;       // rank 0 has heard of it, and closed in order
  bool abandoned = false;  // its thread still runs: end the process with it
};

WorkerResult RunWorker(const bytecode::Module& module,
                       engine::EngineFactory& factory, Rank rank,
                       std::unique_ptr<transport::Transport> transport,
                       const RunOptions& options, Connection& connection);

}  // namespace pp::launch
