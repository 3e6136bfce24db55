// run.json: what a run was and what came out, for programs.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/bytecode/module.h"
#include "runtime/launch/options.h"
#include "runtime/launch/run.h"
#include "runtime/launch/summary.h"

namespace pp::launch {

// One JSON object. A number that is not finite is null. After a failure it has
// the complete steps, and "error" and "positions" say what happened.
std::string ReportJson(const bytecode::Module& module, const Options& options,
                       const RunResult& result, const RunSummary& summary);

// The same for a person: a line a rank, the bubble three ways, predicted beside
// measured, each with its convention. `cores`: what the ranks compute on, where
// that bends the numbers; 0: they wait for nothing but each other.
std::string ReportTable(const bytecode::Module& module, const RunResult& result,
                        const RunSummary& summary, uint32_t cores = 0);

}  // namespace pp::launch
