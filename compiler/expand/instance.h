// A schedule at one point: parameters bound, lets of the schedule worked out,
// `require`s held against them. The first step of Expand and of
// CheckExpectations.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/expand/evaluator.h"
#include "compiler/expand/expand.h"
#include "compiler/sema/program.h"

namespace pp::expand {

inline constexpr int64_t kMaxRanks = 65535;
inline constexpr int64_t kMaxChunks = 65535;  // of a rank
inline constexpr int64_t kMaxMicroBatches = INT32_MAX;

class Instance {
 public:
  explicit Instance(const sema::CheckedSchedule& schedule);

  // kExpanded: all is bound. Else errors are in `diag`.
  Outcome Bind(const Point& point, diag::Emitter& diag);

  const sema::Program& program() const { return program_; }
  Evaluator& eval() { return eval_; }
  uint32_t ranks() const { return ranks_; }
  uint32_t micro_batches() const { return micro_batches_; }
  std::string PointText() const;  // "P = 4, M = 8, v = 2"
  std::vector<std::pair<std::string, int64_t>> Params() const;

  // The evaluator's fault as a diagnostic, with a note naming `where`.
  void EmitFault(const std::string& where, diag::Emitter& diag);

 private:
  bool Take(const Point& point, diag::Emitter& diag);
  bool TakeDefaults(diag::Emitter& diag);
  bool CheckRange(sema::Slot slot, int64_t most, diag::Emitter& diag);
  Outcome Require(const sema::Require& require, diag::Emitter& diag);
  std::string Sides(const sema::Require& require);

  const sema::CheckedSchedule& schedule_;
  const sema::Program& program_;
  Evaluator eval_;
  std::vector<bool> given_;  // by parameter
  uint32_t ranks_ = 0;
  uint32_t micro_batches_ = 0;
};

}  // namespace pp::expand
