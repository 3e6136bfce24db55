// A run as one rank of several processes, from the world to the result.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/bytecode/module.h"
#include "runtime/launch/options.h"
#include "runtime/launch/run.h"
#include "runtime/launch/world.h"

namespace pp::launch {

struct ProcessRun {
  RunResult result;   // rank 0: of all ranks. Others: status and their place
  bool leads = true;  // rank 0: it reports
  bool reported = false;  // others: rank 0 has heard how it ended
};

// `bytecode` are the bytes of the program's file: they have to be the same on
// every rank, as everything the user asked for.
ProcessRun RunInWorld(const World& world, const bytecode::Module& module,
                      std::span<const std::byte> bytecode,
                      engine::EngineFactory& factory, const Options& options,
                      const RunOptions& run);

}  // namespace pp::launch
