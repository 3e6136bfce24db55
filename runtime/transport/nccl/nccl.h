// Ranks as processes, each with a GPU, through NCCL.
//
// Every lane is a communicator of its own, with a stream of its own; all are
// created at the start in one order on all ranks, and every edge is used once
// before the program begins. Groups are those of the bytecode, and the exchange
// of a sum. Communicators are non-blocking: a rank that fails or is told to
// stop leaves them by ncclCommAbort.
//
// NCCL carries no tags: keys are not compared here. The order on each edge was
// proved by the compiler; the synthetic engine's messages say what they are.
#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/meeting.h"
#include "runtime/transport/nccl/api.h"
#include "runtime/transport/nccl/plan.h"

namespace pp::transport::nccl {

// NCCL itself; what cannot be loaded or is too old is kMachine.
Result<std::shared_ptr<Api>> CreateRealApi();

std::unique_ptr<ProcessTransport> CreateProcessTransport();

// All ranks in this process, by threads: for tests, and for NCCL a GPU a rank.
Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(
    std::shared_ptr<Api> api, const Plan& plan, uint32_t ranks);

}  // namespace pp::transport::nccl
