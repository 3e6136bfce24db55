// Whether a program comes to its end under the `strict` tier, by running it:
// what the event graph (module_graph.h) answers too, without building it. The
// order in which ranks get their turns does not matter: a transfer that could
// start never becomes unable to.
#pragma once

#include "compiler/analysis/comm_match.h"

namespace pp::analysis {

// `module` is verified, `match` complete, and the members of each group reduce
// it equally often. Linear, but for what union-find takes.
bool RunsStrict(const bytecode::Module& module, const CommMatch& match);

}  // namespace pp::analysis
