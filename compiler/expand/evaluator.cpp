#include "compiler/expand/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pp::expand {

using diag::Code;
using sema::Expr;
using sema::ExprKind;

Evaluator::Evaluator(const sema::Program& program)
    : exprs_(program.exprs.data()), slots_(program.slots, 0) {}

EvalFault Evaluator::TakeFault() {
  EvalFault fault = std::move(*fault_);
  fault_.reset();
  return fault;
}

int64_t Evaluator::Fail(Code code, const Expr& e, std::string message) {
  if (!fault_) fault_ = EvalFault{code, e.span, std::move(message)};
  return 0;
}

int64_t Evaluator::Overflow(const Expr& e, int64_t left, const char* op,
                            int64_t right) {
  return Fail(Code::kOverflow, e,
              fmt::format("`{} {} {}` does not fit 64 bits", left, op, right));
}

int64_t Evaluator::EvalNode(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kConst:
      return e.value;
    case ExprKind::kSlot:
      return slots_[e.a];
    case ExprKind::kNegate: {
      int64_t value = Eval(e.a), result = 0;
      if (__builtin_sub_overflow(int64_t{0}, value, &result)) {
        return Overflow(e, 0, "-", value);
      }
      return result;
    }
    case ExprKind::kAbs: {
      int64_t value = Eval(e.a);
      if (value == INT64_MIN) return Overflow(e, 0, "-", value);
      return value < 0 ? -value : value;
    }
    case ExprKind::kNot:
      return Eval(e.a) == 0;
    case ExprKind::kAnd:
      return Eval(e.a) != 0 && Eval(e.b) != 0;
    case ExprKind::kOr:
      return Eval(e.a) != 0 || Eval(e.b) != 0;
    case ExprKind::kSelect:
      return Eval(e.a) != 0 ? Eval(e.b) : Eval(e.c);
    case ExprKind::kUnits:
    case ExprKind::kCost:
    case ExprKind::kPairCost:
    case ExprKind::kBubble:
    case ExprKind::kMakespan:
    case ExprKind::kMessages:
    case ExprKind::kLive:
      return EvalSimulated(e);
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
    case ExprKind::kGt:
    case ExprKind::kGe:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kExactDiv:
      return EvalBinary(e);
  }
  return 0;
}

int64_t Evaluator::EvalBinary(const Expr& e) {
  int64_t left = Eval(e.a), right = Eval(e.b), result = 0;
  switch (e.kind) {
    case ExprKind::kAdd:
      if (__builtin_add_overflow(left, right, &result)) {
        return Overflow(e, left, "+", right);
      }
      return result;
    case ExprKind::kSub:
      if (__builtin_sub_overflow(left, right, &result)) {
        return Overflow(e, left, "-", right);
      }
      return result;
    case ExprKind::kMul:
      if (__builtin_mul_overflow(left, right, &result)) {
        return Overflow(e, left, "*", right);
      }
      return result;
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kExactDiv:
      return Divide(e, left, right);
    case ExprKind::kEq:
      return left == right;
    case ExprKind::kNe:
      return left != right;
    case ExprKind::kLt:
      return left < right;
    case ExprKind::kLe:
      return left <= right;
    case ExprKind::kGt:
      return left > right;
    case ExprKind::kGe:
      return left >= right;
    case ExprKind::kMin:
      return std::min(left, right);
    case ExprKind::kMax:
      return std::max(left, right);
    default:
      return 0;  // not binary: EvalNode sends none here
  }
}

int64_t Evaluator::Divide(const Expr& e, int64_t left, int64_t right) {
  const char* op = e.kind == ExprKind::kMod ? "%" : "/";
  if (right == 0) {
    // After a fault inside the divisor, its 0 is no second fault.
    return Fail(
        Code::kDivisionByZero, e,
        fmt::format("`{} {} 0` divides by zero",
                    e.kind == ExprKind::kExactDiv ? ir::PrintTicks(left)
                                                  : fmt::format("{}", left),
                    op));
  }
  if (right == -1) {  // INT64_MIN / -1 traps
    if (e.kind == ExprKind::kMod) return 0;
    if (left == INT64_MIN) return Overflow(e, left, op, right);
    return -left;
  }
  int64_t quotient = left / right, remainder = left % right;
  if (e.kind == ExprKind::kExactDiv) {
    if (remainder == 0) return quotient;
    return Fail(Code::kInexact, e,
                fmt::format("`{} / {}` is no whole number of millionths of a "
                            "unit",
                            ir::PrintTicks(left), right));
  }
  bool down = remainder != 0 && (remainder < 0) != (right < 0);
  if (e.kind == ExprKind::kDiv) return down ? quotient - 1 : quotient;
  return down ? remainder + right : remainder;
}

int64_t Evaluator::EvalSimulated(const Expr& e) {
  const ir::Metrics& metrics = simulated_->metrics;
  switch (e.kind) {
    case ExprKind::kUnits: {
      int64_t units = Eval(e.a), ticks = 0;
      if (__builtin_mul_overflow(units, ir::kTicksPerUnit, &ticks)) {
        return Overflow(e, units, "*", ir::kTicksPerUnit);
      }
      return ticks;
    }
    case ExprKind::kCost:
      return simulated_->costs.Of(static_cast<ir::OpKind>(e.value));
    case ExprKind::kPairCost:
      return simulated_->costs.Pair();
    case ExprKind::kBubble:
      return metrics.bubble;
    case ExprKind::kMakespan:
      return metrics.makespan;
    case ExprKind::kMessages:
      return static_cast<int64_t>(metrics.messages);
    case ExprKind::kLive: {
      int64_t rank = Eval(e.a);
      if (rank < 0 || rank >= static_cast<int64_t>(metrics.ranks.size())) {
        return Fail(Code::kRankRange, e,
                    fmt::format("rank {} out of range 0..{}", rank,
                                metrics.ranks.size() - 1));
      }
      return metrics.ranks[static_cast<size_t>(rank)].peak_activations;
    }
    default:
      return 0;  // EvalNode sends none here
  }
}

}  // namespace pp::expand
