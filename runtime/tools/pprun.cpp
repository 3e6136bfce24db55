// pprun: runs a compiled pipeline schedule.
#include "runtime/launch/pprun.h"

#include <fmt/format.h>

#include "runtime/launch/options.h"
#include "runtime/launch/spawn.h"

int main(int argc, char** argv) {
  const auto line = pp::launch::ParseCommandLine(argc, argv);
  if (!line) {
    fmt::print(stderr, "pprun: error: {}\n", line.error().message());
    return pp::ExitCode(line.error());
  }
  if (line->print) {
    fmt::print("{}", *line->print);
    return 0;
  }
  // Not again in the processes that this one starts.
  if (line->options.nproc > 0 && !pp::launch::ReadSpawned()) {
    return pp::launch::SpawnProgram(line->options, argv);
  }
  return pp::launch::RunProgram(line->options);
}
