// The statements of rank programs, phases and macros.
#include "compiler/parse/ast_builder.h"

namespace pp::parse {

ast::Block AstBuilder::BuildBlock(P::BlockContext* context) {
  ast::Block block;
  for (P::StmtContext* line : context->stmt()) {
    if (auto statement = BuildStatement(line)) {
      block.push_back(std::move(*statement));
    }
  }
  return block;
}

// nullopt: a lone `;`.
std::optional<ast::Stmt> AstBuilder::BuildStatement(P::StmtContext* context) {
  const source::Span span = SpanOf(context);
  const auto make = [&](auto node) { return ast::Stmt{span, std::move(node)}; };
  if (auto* c = context->opStmt()) return make(BuildOp(c));
  if (auto* c = context->letStmt()) return make(BuildLet(c));
  if (auto* c = context->phaseStmt()) return make(BuildPhase(c));
  if (auto* c = context->repeatStmt()) return make(BuildRepeat(c));
  if (auto* c = context->forStmt()) return make(BuildFor(c));
  if (auto* c = context->ifStmt()) return make(BuildIf(c));
  if (auto* c = context->macroCall()) return make(BuildMacroCall(c));
  return std::nullopt;
}

ast::OpStmt AstBuilder::BuildOp(P::OpStmtContext* context) {
  ast::OpStmt op = BuildTerm(context->opTerm(0));
  if (context->AMP() != nullptr) {
    op.other = std::make_unique<ast::OpStmt>(BuildTerm(context->opTerm(1)));
  }
  return op;
}

ast::OpStmt AstBuilder::BuildTerm(P::OpTermContext* context) {
  ast::OpStmt op;
  op.op = BuildLetter(context->opLetter());
  op.span = SpanOf(context);
  size_t next = 0;
  if (context->LBRACKET() != nullptr) {
    op.chunk = BuildExpr(context->expr(next++));
  }
  if (context->AT() != nullptr) {
    op.micro_batch = BuildExpr(context->expr(next++));
  }
  if (context->SLOT_AT() != nullptr) op.slot = BuildExpr(context->expr(next));
  return op;
}

ast::LetStmt AstBuilder::BuildLet(P::LetStmtContext* context) {
  return {BuildName(context->name()), BuildExpr(context->expr())};
}

ast::PhaseStmt AstBuilder::BuildPhase(P::PhaseStmtContext* context) {
  return {BuildName(context->name()), BuildBlock(context->block())};
}

ast::RepeatStmt AstBuilder::BuildRepeat(P::RepeatStmtContext* context) {
  return {BuildExpr(context->expr()), BuildBlock(context->block())};
}

ast::ForStmt AstBuilder::BuildFor(P::ForStmtContext* context) {
  return {BuildName(context->name()), BuildExpr(context->range()->expr(0)),
          BuildExpr(context->range()->expr(1)), BuildBlock(context->block())};
}

ast::IfStmt AstBuilder::BuildIf(P::IfStmtContext* context) {
  ast::IfStmt node;
  node.condition = BuildExpr(context->expr());
  node.then_body = BuildBlock(context->block(0));
  if (P::IfStmtContext* chained = context->ifStmt()) {
    node.else_body.push_back(ast::Stmt{SpanOf(chained), BuildIf(chained)});
  } else if (context->ELSE() != nullptr) {
    node.else_body = BuildBlock(context->block(1));
  }
  return node;
}

ast::MacroCall AstBuilder::BuildMacroCall(P::MacroCallContext* context) {
  return {BuildName(context->name()), BuildExprs(context->expr())};
}

ast::OpLetter AstBuilder::BuildLetter(P::OpLetterContext* context) {
  switch (context->start->getType()) {
    case P::OP_B:
      return ast::OpLetter::kB;
    case P::OP_I:
      return ast::OpLetter::kI;
    case P::OP_W:
      return ast::OpLetter::kW;
    default:
      return ast::OpLetter::kF;
  }
}

}  // namespace pp::parse
