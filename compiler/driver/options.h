// The command line of ppc as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace pp::driver {

struct Options {
  std::string command;             // "compile", "check", ...
  std::vector<std::string> files;  // compare
  std::string file;                // the input, or the code of `explain`
  std::string output;              // -o
  std::string schedule;            // --schedule
  std::vector<std::pair<std::string, int64_t>> values;  // P, M, then -D
  std::string sweep;                                    // --for P=2..8,M=1..32
  std::string grid_ranks, grid_micro_batches;           // compare --P 4,8
  std::string costs;                                    // --cost F=1,B=2
  std::string memory;                                   // --mem act=1GiB
  std::string tier = "strict";    // --tier strict, lanes, eager=BYTES
  bool first_connection = false;  // --first-connection
  std::string dot;                // check, verify --dot
  std::string barrier = "on";     // simulate --barrier
  std::string measured;           // show --measured
  std::optional<uint64_t> step;   // show --step
  std::string emit;               // compile --emit=ast|ir|asm
  std::optional<uint32_t> rank;   // dump --rank
  std::string format;             // import, export --format
  bool comms = false;             // export --comms
  bool hex = false;
  bool json = false;              // --json
  bool json_diagnostics = false;  // --diagnostics=json
  uint64_t max_ops = 0;           // 0: the default of expand::Options
  uint32_t jobs = 0;              // check --for; 0: as many as cores
};

struct ParsedCommandLine {
  Options options;
  std::optional<std::string> print;  // help or version: print, exit 0
};

// kUsage with CLI11's message and the way to the help text.
Result<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace pp::driver
