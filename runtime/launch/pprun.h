// The program pprun, without its main.
#pragma once

#include "runtime/launch/options.h"

namespace pp::launch {

// Loads, runs, writes report and trace, prints the table to standard output.
// Errors go to standard error. The exit status of the program; does not return
// when a rank could not be ended.
int RunProgram(const Options& options);

// The same in options.nproc processes of this program, with the arguments
// `argv`. What is wrong whoever runs it is said once, before any is started.
int SpawnProgram(const Options& options, char** argv);

}  // namespace pp::launch
