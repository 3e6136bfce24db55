// Expressions. How tightly operators bind is the grammar's; that comparisons
// do not chain is checked here.
#include "compiler/parse/ast_builder.h"
#include "fmt/format.h"

namespace pp::parse {
namespace {

using P = grammar::SchedParser;

ast::BinaryOp BinaryOpOf(size_t token_type) {
  switch (token_type) {
    case P::PLUS:
      return ast::BinaryOp::kAdd;
    case P::MINUS:
      return ast::BinaryOp::kSub;
    case P::STAR:
      return ast::BinaryOp::kMul;
    case P::SLASH:
      return ast::BinaryOp::kDiv;
    case P::PERCENT:
      return ast::BinaryOp::kMod;
    case P::EQ:
      return ast::BinaryOp::kEq;
    case P::NE:
      return ast::BinaryOp::kNe;
    case P::LT:
      return ast::BinaryOp::kLt;
    case P::LE:
      return ast::BinaryOp::kLe;
    case P::GT:
      return ast::BinaryOp::kGt;
    case P::GE:
      return ast::BinaryOp::kGe;
    case P::AND:
      return ast::BinaryOp::kAnd;
    default:
      return ast::BinaryOp::kOr;
  }
}

bool IsComparison(size_t token_type) {
  return token_type >= P::EQ && token_type <= P::GT;
}

P::PrimaryNameContext* PlainName(P::ExprContext* context) {
  auto* primary = dynamic_cast<P::ExprPrimaryContext*>(context);
  if (primary == nullptr) return nullptr;
  auto* name = dynamic_cast<P::PrimaryNameContext*>(primary->primary());
  return name != nullptr && name->LPAREN() == nullptr ? name : nullptr;
}

}  // namespace

ast::ExprPtr AstBuilder::BuildExpr(P::ExprContext* context) {
  if (auto* primary = dynamic_cast<P::ExprPrimaryContext*>(context)) {
    return BuildPrimary(primary->primary());
  }
  if (auto* binary = dynamic_cast<P::ExprBinaryContext*>(context)) {
    return BuildBinary(binary);
  }
  if (auto* unary = dynamic_cast<P::ExprUnaryContext*>(context)) {
    return BuildUnary(unary);
  }
  return BuildConditional(static_cast<P::ExprConditionalContext*>(context));
}

ast::ExprPtr AstBuilder::BuildUnary(P::ExprUnaryContext* context) {
  const bool negates = context->op->getType() == P::MINUS;
  return Make(context, ast::UnaryExpr{
                           negates ? ast::UnaryOp::kNegate : ast::UnaryOp::kNot,
                           BuildExpr(context->expr())});
}

ast::ExprPtr AstBuilder::BuildBinary(P::ExprBinaryContext* context) {
  const size_t type = context->op->getType();
  const auto begin = static_cast<uint32_t>(context->op->getStartIndex());
  const auto end = static_cast<uint32_t>(context->op->getStopIndex()) + 1;
  const source::Span op_span{file_, begin, end};
  if (IsComparison(type)) CheckChain(context->expr(0), op_span);
  return Make(context,
              ast::BinaryExpr{BinaryOpOf(type), BuildExpr(context->expr(0)),
                              BuildExpr(context->expr(1)), op_span});
}

// Comparisons bind equally and to the left: a chain has one on the left.
void AstBuilder::CheckChain(P::ExprContext* operand, source::Span op) {
  auto* left = dynamic_cast<P::ExprBinaryContext*>(operand);
  if (left == nullptr || !IsComparison(left->op->getType())) return;
  Fail(diag::Code::kChainedComparison, op,
       "comparisons do not chain: this compares with the 0 or 1 that "
       "the one before gives")
      .Help(fmt::format("join two comparisons with `&&`, or put the first in "
                        "parentheses"));
}

ast::ExprPtr AstBuilder::BuildConditional(P::ExprConditionalContext* context) {
  return Make(context, ast::ConditionalExpr{BuildExpr(context->expr(0)),
                                            BuildExpr(context->expr(1)),
                                            BuildExpr(context->expr(2))});
}

ast::ExprPtr AstBuilder::BuildPrimary(P::PrimaryContext* context) {
  if (auto* paren = dynamic_cast<P::PrimaryParenContext*>(context)) {
    ast::ExprPtr inner = BuildExpr(paren->expr());
    inner->span = SpanOf(context);  // carets take in the parentheses
    return inner;
  }
  if (auto* name = dynamic_cast<P::PrimaryNameContext*>(context)) {
    ast::Identifier identifier = BuildName(name->name());
    if (name->LPAREN() == nullptr) {
      return Make(context, ast::NameRef{std::move(identifier.text)});
    }
    ast::CallExpr call{std::move(identifier), {}};
    for (P::ArgumentContext* argument : name->argument()) {
      call.args.push_back(BuildArgument(argument));
    }
    return Make(context, std::move(call));
  }
  int64_t value = 0;  // in range: token_check
  sources_.Text(SpanOf(context)).getAsInteger(10, value);
  return Make(context, ast::IntLiteral{value});
}

ast::ExprPtr AstBuilder::BuildArgument(P::ArgumentContext* context) {
  if (context->expr() != nullptr) return BuildExpr(context->expr());
  std::string letters = TextOf(SpanOf(context->opLetter(0)));
  if (context->AMP() != nullptr) {
    letters += " & " + TextOf(SpanOf(context->opLetter(1)));
  }
  return Make(context, ast::NameRef{std::move(letters)});
}

std::vector<ast::ExprPtr> AstBuilder::BuildExprs(
    const std::vector<P::ExprContext*>& contexts) {
  std::vector<ast::ExprPtr> exprs;
  for (P::ExprContext* context : contexts) {
    exprs.push_back(BuildExpr(context));
  }
  return exprs;
}

std::optional<ast::Identifier> AstBuilder::BuildBound(P::ExprContext* context) {
  P::PrimaryNameContext* name = PlainName(context);
  if (name == nullptr) return std::nullopt;
  return BuildName(name->name());
}

std::optional<ast::Identifier> AstBuilder::RequireBound(
    P::ExprContext* context) {
  auto bound = BuildBound(context);
  if (!bound) {
    Fail(diag::Code::kUnexpectedToken, SpanOf(context),
         "expected a name before `in`, found an expression");
  }
  return bound;
}

}  // namespace pp::parse
