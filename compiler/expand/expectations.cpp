#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "compiler/expand/expand.h"
#include "compiler/expand/fault_log.h"
#include "compiler/expand/instance.h"

namespace pp::expand {
namespace {

using diag::Code;
using sema::kNone;

bool Holds(sema::ExprKind comparison, int64_t left, int64_t right) {
  switch (comparison) {
    case sema::ExprKind::kEq:
      return left == right;
    case sema::ExprKind::kNe:
      return left != right;
    case sema::ExprKind::kLt:
      return left < right;
    case sema::ExprKind::kLe:
      return left <= right;
    case sema::ExprKind::kGt:
      return left > right;
    default:
      return left >= right;
  }
}

class Expectations {
 public:
  Expectations(Instance& instance, const Simulated& simulated)
      : instance_(instance), eval_(instance.eval()), simulated_(simulated) {
    eval_.set_simulated(&simulated);
  }

  void Check(const sema::Expect& expect) {
    uint32_t ranks = expect.per_rank ? instance_.ranks() : 1;
    bool evaluated = false;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      eval_.Var(expect.rank) = rank;
      evaluated |= CheckOn(expect, rank);
    }
    if (evaluated) ++evaluated_;
  }

  size_t evaluated() const { return evaluated_; }
  const FaultLog& log() const { return log_; }

 private:
  // Whether the claim was made here: its `when` holds.
  bool CheckOn(const sema::Expect& expect, uint32_t rank) {
    if (expect.condition != kNone) {
      int64_t when = eval_.Eval(expect.condition);
      if (Faulted(expect, rank) || when == 0) return false;
    }
    int64_t left = eval_.Eval(expect.left);
    int64_t right = eval_.Eval(expect.right);
    if (Faulted(expect, rank)) return true;
    if (Holds(expect.comparison, left, right)) return true;
    if (log_.Repeats(Code::kExpectationFailed, expect.span, rank)) return true;
    Fault fault;
    fault.code = Code::kExpectationFailed;
    fault.span = expect.span;
    fault.message = fmt::format("`{}` does not hold{}: left is {}, right is {}",
                                expect.text, OnRank(expect, rank),
                                Value(expect, left), Value(expect, right));
    fault.notes.push_back({{}, "costs " + ir::Print(simulated_.costs)});
    log_.Add(std::move(fault), rank);
    return true;
  }

  bool Faulted(const sema::Expect& expect, uint32_t rank) {
    if (!eval_.failed()) return false;
    EvalFault fault = eval_.TakeFault();
    log_.Add({fault.code,
              fault.span,
              fault.message + OnRank(expect, rank),
              {{expect.span, "in this `expect`"}},
              ""},
             rank);
    return true;
  }

  static std::string OnRank(const sema::Expect& expect, uint32_t rank) {
    return expect.per_rank ? fmt::format(" on rank {}", rank) : "";
  }

  static std::string Value(const sema::Expect& expect, int64_t value) {
    return expect.dimension == sema::Dimension::kTime
               ? ir::PrintTicks(value)
               : fmt::format("{}", value);
  }

  Instance& instance_;
  Evaluator& eval_;
  const Simulated& simulated_;
  FaultLog log_;
  size_t evaluated_ = 0;
};

// The value that `expect` promises for one word, or nullptr.
std::optional<int64_t>* Place(const sema::Program& program,
                              const sema::Expect& expect, Formulas& formulas) {
  if (expect.comparison != sema::ExprKind::kEq) return nullptr;
  const sema::Expr& left = program.exprs[expect.left];
  switch (left.kind) {
    case sema::ExprKind::kBubble:
      return &formulas.bubble;
    case sema::ExprKind::kMakespan:
      return &formulas.makespan;
    case sema::ExprKind::kMessages:
      return &formulas.messages;
    case sema::ExprKind::kLive: {
      const sema::Expr& rank = program.exprs[left.a];
      const bool each =
          rank.kind == sema::ExprKind::kSlot && rank.a == expect.rank;
      return each ? &formulas.live : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace

Formulas EvaluateFormulas(const sema::CheckedSchedule& schedule,
                          const Point& point, const ir::Metrics& metrics,
                          const ir::CostModel& costs) {
  Formulas formulas;
  Instance instance(schedule);
  diag::Emitter unheard;
  if (instance.Bind(point, unheard) != Outcome::kExpanded) return formulas;
  Simulated simulated{metrics, costs};
  Evaluator& eval = instance.eval();
  eval.set_simulated(&simulated);
  for (const sema::Expect& expect : schedule.program->expects) {
    std::optional<int64_t>* place = Place(*schedule.program, expect, formulas);
    if (place == nullptr) continue;
    const uint32_t ranks = expect.per_rank ? instance.ranks() : 1;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      eval.Var(expect.rank) = rank;
      const bool made =
          expect.condition == kNone || eval.Eval(expect.condition) != 0;
      const int64_t value = made ? eval.Eval(expect.right) : 0;
      if (eval.failed()) {
        eval.TakeFault();
      } else if (made) {
        *place = place->has_value() ? std::max(**place, value) : value;
      }
    }
  }
  return formulas;
}

size_t CheckExpectations(const sema::CheckedSchedule& schedule,
                         const Point& point, const ir::Schedule&,
                         const ir::Metrics& metrics, const ir::CostModel& costs,
                         diag::Emitter& diag) {
  Instance instance(schedule);
  if (instance.Bind(point, diag) != Outcome::kExpanded) return 0;
  Simulated simulated{metrics, costs};
  Expectations expectations(instance, simulated);
  for (const sema::Expect& expect : schedule.program->expects) {
    expectations.Check(expect);
  }
  expectations.log().EmitTo(diag, instance.PointText());
  return expectations.evaluated();
}

}  // namespace pp::expand
