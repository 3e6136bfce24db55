#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/suggest.h"
#include "compiler/sema/resolver.h"

namespace pp::sema {
namespace {

using diag::Code;

// The parser bounds nesting too; this bounds the recursion of expansion.
constexpr uint32_t kMaxExprDepth = 256;
constexpr size_t kMaxArgs = 32;

constexpr std::array<std::string_view, 5> kFunctions = {"min", "max", "abs",
                                                        "t", "live"};

ExprKind KindOf(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kAdd:
      return ExprKind::kAdd;
    case ast::BinaryOp::kSub:
      return ExprKind::kSub;
    case ast::BinaryOp::kMul:
      return ExprKind::kMul;
    case ast::BinaryOp::kDiv:
      return ExprKind::kDiv;
    case ast::BinaryOp::kMod:
      return ExprKind::kMod;
    case ast::BinaryOp::kEq:
      return ExprKind::kEq;
    case ast::BinaryOp::kNe:
      return ExprKind::kNe;
    case ast::BinaryOp::kLt:
      return ExprKind::kLt;
    case ast::BinaryOp::kLe:
      return ExprKind::kLe;
    case ast::BinaryOp::kGt:
      return ExprKind::kGt;
    case ast::BinaryOp::kGe:
      return ExprKind::kGe;
    case ast::BinaryOp::kAnd:
      return ExprKind::kAnd;
    case ast::BinaryOp::kOr:
      return ExprKind::kOr;
  }
  return ExprKind::kConst;
}

std::optional<ast::OpLetter> LetterOf(std::string_view name) {
  if (name == "F") return ast::OpLetter::kF;
  if (name == "B") return ast::OpLetter::kB;
  if (name == "I") return ast::OpLetter::kI;
  if (name == "W") return ast::OpLetter::kW;
  return std::nullopt;
}

}  // namespace

struct ExprResolver {
  Resolver& resolver;
  Span span;

  Typed operator()(const ast::IntLiteral& e) const {
    Typed made = resolver.Make(ExprKind::kConst, span, Dimension::kNumber);
    resolver.program_.exprs[made.id].value = e.value;
    return made;
  }
  Typed operator()(const ast::NameRef& e) const {
    return resolver.ResolveName(e, span);
  }
  Typed operator()(const ast::UnaryExpr& e) const {
    return resolver.ResolveUnary(e, span);
  }
  Typed operator()(const ast::BinaryExpr& e) const {
    return resolver.ResolveBinary(e, span);
  }
  Typed operator()(const ast::CallExpr& e) const {
    return resolver.ResolveCall(e, span);
  }
  Typed operator()(const ast::ConditionalExpr& e) const {
    return resolver.ResolveConditional(e, span);
  }
};

Typed Resolver::Resolve(const ast::Expr& expr) {
  if (expr_depth_ == kMaxExprDepth) {
    diag_.Emit(
        Code::kTooDeep, expr.span,
        fmt::format("the expression nests more than {} deep", kMaxExprDepth));
    return Bad(expr.span);
  }
  ++expr_depth_;
  Typed resolved = std::visit(ExprResolver{*this, expr.span}, expr.node);
  --expr_depth_;
  return resolved;
}

ExprId Resolver::ResolveNumber(const ast::Expr& expr) {
  Typed value = Resolve(expr);
  if (!value.bad && value.dimension == Dimension::kTime) {
    diag_.Emit(Code::kTimeAndNumber, expr.span,
               "a plain number is wanted here, this is a time");
  }
  return value.id;
}

Typed Resolver::Make(ExprKind kind, Span span, Dimension dimension, Typed a,
                     Typed b, Typed c) {
  Expr expr;
  expr.kind = kind;
  expr.a = a.id;
  expr.b = b.id;
  expr.c = c.id;
  expr.span = span;
  program_.exprs.push_back(expr);
  dimensions_.push_back(dimension);
  return {static_cast<ExprId>(program_.exprs.size() - 1), dimension,
          a.bad || b.bad || c.bad};
}

Dimension Resolver::DimensionOf(ExprId id) const { return dimensions_[id]; }

Typed Resolver::Bad(Span span) {
  Typed made = Make(ExprKind::kConst, span, Dimension::kNumber);
  made.bad = true;
  return made;
}

Typed Resolver::OutsideExpect(std::string_view name, Span span) {
  diag_
      .Emit(Code::kOnlyInExpect, span,
            fmt::format("`{}` is known only after simulation: it can stand in "
                        "an `expect`, not here",
                        name))
      .Help("costs and times never change the order of a rank's program");
  return Bad(span);
}

// ---- Names ----------------------------------------------------------------

Typed Resolver::ResolveName(const ast::NameRef& name, Span span) {
  // A `let` further down: lets of a schedule may stand in any order.
  if (scope_.Find(name.name) == nullptr && !let_state_.empty()) {
    for (size_t i = 0; i < flat_.lets.size(); ++i) {
      if (flat_.lets[i].node->name.text != name.name) continue;
      if (let_state_[i] == LetState::kDone) break;
      if (!ResolveLet(i, &span)) return Bad(span);
      break;
    }
  }
  if (Binding* binding = scope_.Find(name.name)) {
    binding->used = true;
    auto let = let_index_.find(name.name);
    if (let != let_index_.end()) {
      let_need_ = std::max(let_need_, let->second);
    }
    Typed made = Make(ExprKind::kSlot, span, Dimension::kNumber);
    program_.exprs[made.id].a = binding->slot;
    made.bad = binding->slot == kNone;
    return made;
  }
  struct Metric {
    const char* name;
    ExprKind kind;
    Dimension dimension;
  };
  for (const Metric& metric :
       {Metric{"bubble", ExprKind::kBubble, Dimension::kTime},
        Metric{"makespan", ExprKind::kMakespan, Dimension::kTime},
        Metric{"messages", ExprKind::kMessages, Dimension::kNumber}}) {
    if (name.name != metric.name) continue;
    if (!in_expect_) return OutsideExpect(name.name, span);
    return Make(metric.kind, span, metric.dimension);
  }
  return UnknownName(name.name, span);
}

Typed Resolver::UnknownName(std::string_view name, Span span) {
  if (LetterOf(name)) {
    diag_
        .Emit(Code::kUnknownName, span,
              fmt::format("`{}` is an operation and has no value", name))
        .Help(fmt::format("its cost is `t({})`, in an `expect`", name));
    return Bad(span);
  }
  auto names = scope_.Names();
  if (in_expect_) {
    names.insert(names.end(), {"bubble", "makespan", "messages"});
  }
  auto builder = diag_.Emit(Code::kUnknownName, span,
                            fmt::format("unknown name `{}`", name));
  if (auto left = scope_.Left(name)) {
    builder.Note(*left,
                 fmt::format("this `{}` is seen in its own block only", name));
  }
  builder.Help(std::find(kFunctions.begin(), kFunctions.end(), name) !=
                       kFunctions.end()
                   ? fmt::format("`{}` is a function: `{}(...)`", name, name)
                   : diag::DidYouMean(name, names));
  return Bad(span);
}

// ---- Operators ------------------------------------------------------------

Typed Resolver::ToTime(Typed value) {
  if (value.bad || value.dimension == Dimension::kTime) return value;
  Span span = program_.exprs[value.id].span;
  return Make(ExprKind::kUnits, span, Dimension::kTime, value);
}

// A number held against a time is a number of units.
Typed Resolver::Unify(Typed& left, Typed& right) {
  if (left.dimension != right.dimension) {
    left = ToTime(left);
    right = ToTime(right);
  }
  return left;
}

Typed Resolver::ResolveUnary(const ast::UnaryExpr& unary, Span span) {
  Typed operand = Resolve(*unary.operand);
  if (unary.op == ast::UnaryOp::kNegate) {
    return Make(ExprKind::kNegate, span, operand.dimension, operand);
  }
  if (!operand.bad && operand.dimension == Dimension::kTime) {
    diag_.Emit(Code::kTimeAndNumber, span, "`!` of a time means nothing");
    return Bad(span);
  }
  return Make(ExprKind::kNot, span, Dimension::kNumber, operand);
}

Typed Resolver::ResolveBinary(const ast::BinaryExpr& binary, Span span) {
  Typed left = Resolve(*binary.left);
  Typed right = Resolve(*binary.right);
  if (left.bad || right.bad) return Bad(span);
  return Combine(binary.op, left, right, span);
}

Typed Resolver::Combine(ast::BinaryOp op, Typed left, Typed right, Span span) {
  bool left_time = left.dimension == Dimension::kTime;
  bool right_time = right.dimension == Dimension::kTime;
  ExprKind kind = KindOf(op);
  auto fault = [&](const char* message) {
    diag_.Emit(Code::kTimeAndNumber, span, message)
        .Help(
            "time + time, number * time and time / number are times; the "
            "rest is for numbers");
    return Bad(span);
  };
  if (kind >= ExprKind::kEq && kind <= ExprKind::kGe) {
    Unify(left, right);
    return Make(kind, span, Dimension::kNumber, left, right);
  }
  if (!left_time && !right_time) {
    return Make(kind, span, Dimension::kNumber, left, right);
  }
  switch (op) {
    case ast::BinaryOp::kAdd:
    case ast::BinaryOp::kSub:
      if (!left_time || !right_time) {
        return fault("a time and a plain number do not add up");
      }
      return Make(kind, span, Dimension::kTime, left, right);
    case ast::BinaryOp::kMul:
      if (left_time && right_time) return fault("time times time is no time");
      return Make(kind, span, Dimension::kTime, left, right);
    case ast::BinaryOp::kDiv:
      if (right_time) return fault("nothing can be divided by a time");
      return Make(ExprKind::kExactDiv, span, Dimension::kTime, left, right);
    default:
      return fault("this operator is for plain numbers, not for times");
  }
}

Typed Resolver::ResolveConditional(const ast::ConditionalExpr& node,
                                   Span span) {
  Typed condition = Resolve(*node.condition);
  Typed yes = Resolve(*node.then_value);
  Typed no = Resolve(*node.else_value);
  if (condition.bad || yes.bad || no.bad) return Bad(span);
  if (condition.dimension == Dimension::kTime) {
    diag_.Emit(Code::kTimeAndNumber, program_.exprs[condition.id].span,
               "a time is no condition: compare it with something");
    return Bad(span);
  }
  Unify(yes, no);
  return Make(ExprKind::kSelect, span, yes.dimension, condition, yes, no);
}

// ---- Functions ------------------------------------------------------------

Typed Resolver::ResolveCall(const ast::CallExpr& call, Span span) {
  const std::string& name = call.callee.text;
  if (name == "min") return ResolveMinMax(call, ExprKind::kMin, span);
  if (name == "max") return ResolveMinMax(call, ExprKind::kMax, span);
  if (name == "t") return ResolveCost(call, span);
  if (name == "live") return ResolveLive(call, span);
  if (name == "abs") {
    if (!Arity(call, 1, span)) return Bad(span);
    Typed operand = Resolve(*call.args[0]);
    return Make(ExprKind::kAbs, span, operand.dimension, operand);
  }
  diag_
      .Emit(Code::kUnknownName, call.callee.span,
            fmt::format("unknown function `{}`", name))
      .Help(diag::DidYouMean(name, kFunctions));
  for (const ast::ExprPtr& arg : call.args) Resolve(*arg);
  return Bad(span);
}

bool Resolver::Arity(const ast::CallExpr& call, size_t wanted, Span span) {
  if (call.args.size() == wanted) return true;
  diag_.Emit(Code::kWrongArity, span,
             fmt::format("`{}` takes {} argument{}, {} given", call.callee.text,
                         wanted, wanted == 1 ? "" : "s", call.args.size()));
  return false;
}

Typed Resolver::ResolveMinMax(const ast::CallExpr& call, ExprKind kind,
                              Span span) {
  if (call.args.size() < 2 || call.args.size() > kMaxArgs) {
    diag_.Emit(Code::kWrongArity, span,
               fmt::format("`{}` takes 2 to {} arguments, {} given",
                           call.callee.text, kMaxArgs, call.args.size()));
    return Bad(span);
  }
  Typed result = Resolve(*call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i) {
    Typed next = Resolve(*call.args[i]);
    if (!result.bad && !next.bad) Unify(result, next);
    result = Make(kind, span, result.dimension, result, next);
  }
  return result;
}

Typed Resolver::ResolveCost(const ast::CallExpr& call, Span span) {
  if (!in_expect_) return OutsideExpect("t(...)", span);
  if (!Arity(call, 1, span)) return Bad(span);
  auto* name = std::get_if<ast::NameRef>(&call.args[0]->node);
  if (name != nullptr && (name->name == "F & B" || name->name == "B & F")) {
    return Make(ExprKind::kPairCost, span, Dimension::kTime);
  }
  auto letter = name != nullptr ? LetterOf(name->name) : std::nullopt;
  if (!letter) {
    diag_
        .Emit(Code::kNotAnOperation, call.args[0]->span,
              "`t` takes an operation")
        .Help("one of `t(F)`, `t(B)`, `t(I)`, `t(W)`, `t(F & B)`");
    return Bad(span);
  }
  Typed made = Make(ExprKind::kCost, span, Dimension::kTime);
  program_.exprs[made.id].value = static_cast<int64_t>(*letter);
  return made;
}

Typed Resolver::ResolveLive(const ast::CallExpr& call, Span span) {
  if (!in_expect_) return OutsideExpect("live(...)", span);
  if (!Arity(call, 1, span)) return Bad(span);
  Typed rank;
  rank.id = ResolveNumber(*call.args[0]);
  return Make(ExprKind::kLive, span, Dimension::kNumber, rank);
}

}  // namespace pp::sema
