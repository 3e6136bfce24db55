// What every sub-command starts from: options, sources, diagnostics, streams;
// and the way from a file to a checked schedule or module.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/analysis/module_graph.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/options.h"
#include "compiler/expand/expand.h"
#include "compiler/ir/cost_model.h"
#include "compiler/ir/memory_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"
#include "compiler/sema/sema.h"
#include "compiler/source/source_manager.h"
#include "compiler/table/table.h"
#include "runtime/bytecode/module.h"

namespace pp::driver {

struct Session {
  Options options;
  std::ostream& out;  // results
  std::ostream& err;  // talk
  bool colour_out = false;
  bool colour_err = false;
  source::SourceManager sources;
  diag::Emitter diag;
};

// Sub-commands return this when `diag` already says what is wrong.
Status Diagnosed();
bool IsDiagnosed(const Status& status);

// A `.sched` parsed and resolved; the one schedule that --schedule names, or
// the only one there is.
Result<sema::CheckedSchedule> LoadSchedule(Session& session);

// What operations cost and what stages keep.
struct Models {
  ir::CostModel costs;
  std::optional<ir::MemoryModel> memory;
};

// Those of --cost and --mem, else of the `cost` and `mem` blocks of `checked`
// (nullptr: there is none). For the command line's own text kUsage, for a
// costs file kInput; faults of a block are in the session's diagnostics.
Result<Models> LoadModels(Session& session,
                          const sema::CheckedSchedule* checked);

// Those of --tier and --first-connection. A message of `message` bytes (0: its
// size is not known, it is taken to fit) is buffered under eager=BYTES where
// it is no larger than that. kUsage for a tier that there is not.
Result<analysis::Assumptions> AssumptionsOf(const Options& options,
                                            ir::Bytes message);
// "tier eager=64KiB, connecting"
std::string Describe(const Options& options);

// A schedule at one point that passed every check, with what was simulated.
struct CheckedPoint {
  ir::Schedule schedule;
  ir::Metrics metrics;
  bytecode::Module module;  // lowered, and re-read from its own bytes
  std::vector<std::byte> bytes;
  size_t expectations = 0;  // how many were evaluated; failures are in diag
  std::vector<ir::RankMemory> memory;  // by rank; empty: no sizes were given
};

enum class PointOutcome { kAccepted, kRefused, kFailed };

struct PointResult {
  PointOutcome outcome = PointOutcome::kFailed;
  std::optional<CheckedPoint> point;  // kAccepted
  Status status;  // not ok: something other than the input is at fault
};

// Expand, check, simulate, lower, emit, read back, check again. Diagnostics go
// to `diag`. `expectations`: evaluate the `expect` lines too; one that fails
// makes the point kFailed. Safe to call from several threads, each with its
// own `diag`.
PointResult CheckPoint(const sema::CheckedSchedule& checked,
                       const expand::Point& point, const Models& models,
                       const expand::Options& limits, bool expectations,
                       const source::SourceManager& sources,
                       diag::Emitter& diag);

// The same at the point of the options, with its diagnostics in the session.
Result<CheckedPoint> CheckThePoint(Session& session,
                                   const sema::CheckedSchedule& checked,
                                   const Models& models, bool expectations);

// A PyTorch table (.csv) whose compute order passed the checks.
struct CheckedTable {
  table::Table table;
  ir::Schedule schedule;
};
bool IsTable(const std::string& file);
Result<CheckedTable> LoadTable(Session& session);

// The file of the options, a `.sched` or a table, through every check, and the
// models it was judged by.
struct CheckedInput {
  CheckedPoint point;
  Models models;
};
Result<CheckedInput> CheckInput(Session& session, bool expectations);

bool IsBytecode(const std::string& file);  // .ppb or .ppasm

// The input as bytecode: a `.ppb` or `.ppasm` as it is (verified), a `.sched`
// compiled at the point of the options.
Result<bytecode::Module> LoadModule(Session& session);

// The input as a schedule of compute operations, and the models to judge it
// by: a `.sched` expanded and checked, or those of a bytecode file.
struct Computation {
  ir::Schedule schedule;
  Models models;
  std::vector<ir::RankMemory> memory;  // by rank; empty: no sizes were given
};
Result<Computation> LoadComputation(Session& session);

bool EndsWith(const std::string& text, const std::string& suffix);
expand::Point PointOf(const Options& options);
expand::Options LimitsOf(const Options& options);

}  // namespace pp::driver
