// Values of resolved expressions over a frame of slots.
//
// Integers of 64 bits, every operation checked; division and remainder round
// down (floor). The first fault is kept until it is taken, and the value is 0
// from there on: the caller looks at fault() where it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/cost_model.h"
#include "compiler/ir/metrics.h"
#include "compiler/sema/program.h"

namespace pp::expand {

struct EvalFault {
  diag::Code code{};
  source::Span span;
  std::string message;  // "`7 / 0` divides by zero"
};

// What was simulated, for the expressions of `expect`.
struct Simulated {
  const ir::Metrics& metrics;
  const ir::CostModel& costs;
};

class Evaluator {
 public:
  explicit Evaluator(const sema::Program& program);

  int64_t Eval(sema::ExprId id) {
    const sema::Expr& e = exprs_[id];
    // Most are one of these; the rest is out of line.
    if (e.kind == sema::ExprKind::kConst) return e.value;
    if (e.kind == sema::ExprKind::kSlot) return slots_[e.a];
    return EvalNode(e);
  }

  int64_t& Var(sema::Slot slot) { return slots_[slot]; }
  int64_t Value(sema::Slot slot) const { return slots_[slot]; }
  bool failed() const { return fault_.has_value(); }
  EvalFault TakeFault();
  void set_simulated(const Simulated* simulated) { simulated_ = simulated; }

 private:
  int64_t EvalNode(const sema::Expr& e);
  int64_t EvalBinary(const sema::Expr& e);
  int64_t EvalSimulated(const sema::Expr& e);
  int64_t Divide(const sema::Expr& e, int64_t left, int64_t right);
  int64_t Fail(diag::Code code, const sema::Expr& e, std::string message);
  int64_t Overflow(const sema::Expr& e, int64_t left, const char* op,
                   int64_t right);

  const sema::Expr* exprs_;
  std::vector<int64_t> slots_;
  const Simulated* simulated_ = nullptr;
  std::optional<EvalFault> fault_;
};

}  // namespace pp::expand
