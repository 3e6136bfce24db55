// The command line of pprun.
#pragma once

#include <optional>
#include <string>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"
#include "runtime/launch/inject.h"

namespace pp::launch {

struct Options {
  std::string program;  // OUT.ppb
  engine::EngineConfig engine;
  std::string transport;  // empty: what fits the world and the device
  std::optional<Injection> inject;
  uint32_t nproc = 0;  // processes to start; 0: none
  uint64_t steps = 10;
  uint64_t warmup = 1;  // of them, not timed
  double timeout_s = 60;
  std::string report;      // file, or empty
  std::string trace;       // file, or empty
  std::string profile;     // file, or empty
  std::string save;        // file, or empty
  std::string checkpoint;  // folder, or empty
  uint64_t every = 0;      // steps from checkpoint to checkpoint; 0: none
  bool resume = false;
  bool verify_gradients = false;
};

// What to do: run with options, or print a text (help, version) and end.
struct CommandLine {
  Options options;
  std::optional<std::string> print;
};

// kUsage with what is wrong and how to get help.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace pp::launch
