// Runs all ranks of a module as threads of this process.
//
// The calling thread leads: it starts the ranks, collects each step while all
// ranks wait, watches for a rank that is in one instruction longer than the
// timeout, and for a signal. The first error wins and ends all ranks.
#pragma once

#include <memory>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/launch/remote.h"
#include "runtime/launch/run.h"
#include "runtime/transport/transport.h"

namespace pp::launch {

// `module` has passed Verify, `factory` its Prepare; `transports` is one
// endpoint per rank, connected to each other. See RunResult::abandoned.
RunResult RunThreads(
    const bytecode::Module& module, engine::EngineFactory& factory,
    std::vector<std::unique_ptr<transport::Transport>> transports,
    const RunOptions& options);

// Rank 0 of a run in several processes: leads the ranks of `peers` as well.
// `transport` is rank 0's endpoint.
RunResult RunWithPeers(const bytecode::Module& module,
                       engine::EngineFactory& factory,
                       std::unique_ptr<transport::Transport> transport,
                       const RunOptions& options, std::vector<Peer> peers);

}  // namespace pp::launch
