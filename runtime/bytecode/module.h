// Module: a whole compiled schedule, all ranks, as plain data.
//
// The writer turns it into a `.ppb` file, the reader back; the text form is
// `.ppasm`. Nothing here is checked: see verifier.h for what may be run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/bytecode/instr.h"

namespace pp::bytecode {

// What one chunk of a rank holds. Replicas: bidirectional schedules hold each
// stage once per replica; all others have replica 0 only.
struct ChunkInfo {
  StageId stage;
  uint32_t replica = 0;
  friend bool operator==(const ChunkInfo&, const ChunkInfo&) = default;
};

// A place in the schedule's source.
struct Site {
  std::string file;
  uint32_t line = 0;    // from 1; 0 = not from a source line
  uint32_t column = 0;  // from 1
  std::string phase;    // name of the enclosing phase, or empty
  friend bool operator==(const Site&, const Site&) = default;
};

// Where an instruction comes from: a site, and the iteration of the innermost
// loop there (phase[iteration]). kNoSite: made by the compiler.
inline constexpr uint32_t kNoSite = 0xFFFFFFFF;
struct DebugEntry {
  uint32_t site = kNoSite;
  uint32_t iteration = 0;
  friend bool operator==(const DebugEntry&, const DebugEntry&) = default;
};

struct RankProgram {
  std::vector<ChunkInfo> chunks;
  uint32_t slots = 0;    // boundary-tensor slots
  uint32_t stashes = 0;  // stash entries = most activations alive at once
  std::vector<Instr> code;
  std::vector<DebugEntry> debug;  // one per instruction, or empty
  friend bool operator==(const RankProgram&, const RankProgram&) = default;
};

enum class GroupKind : uint8_t {
  kReplicas = 0,  // the holders of one stage, one per replica
  kTied = 1,      // first and last stage: weights the model shares over both
};
inline constexpr uint32_t kGroupKindCount = 2;
std::string_view GroupKindName(GroupKind kind);  // "replicas", "tied"

struct Group {
  GroupKind kind = GroupKind::kReplicas;
  StageId stage;            // kReplicas: the stage. kTied: unused, 0
  std::vector<Rank> ranks;  // the order in which sums are taken
  friend bool operator==(const Group&, const Group&) = default;
};

// What the compiler knew and promised. Information only: the VM does not
// depend on it, the report prints it beside what was measured.
struct Facts {
  std::string schedule;                                 // name
  std::vector<std::pair<std::string, int64_t>> params;  // P, M, v, ... in order
  std::string source_file;
  std::string source_hash;  // hex, of the source text
  std::string cost_hash;    // hex, of the cost model in canonical text
  std::string costs;        // canonical text: "F=1,B=2,I=1,W=1,comm=0"
  std::string placement;    // "linear", "loop(2)", ...
  std::string tier;         // the check that passed: "strict"
  std::string compiler;     // "ppc 0.1.0"
  double makespan = 0;      // in the cost's unit
  double bubble_fraction = 0;
  double bubble_overhead = 0;
  double bubble_longest_stage = 0;
  std::vector<uint32_t> peak_activations;  // per rank, counted in chunks
  friend bool operator==(const Facts&, const Facts&) = default;
};

struct Module {
  uint32_t micro_batches = 0;  // M
  uint32_t stages = 0;         // S
  uint32_t replicas = 1;
  uint32_t lanes = 0;
  std::vector<Group> groups;
  std::vector<RankProgram> programs;  // one per rank
  std::vector<Site> sites;
  Facts facts;

  uint32_t ranks() const { return static_cast<uint32_t>(programs.size()); }
  friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace pp::bytecode
