// ANTLR's parse tree -> the syntax tree: one Build function per rule of
// SchedParser.g4. Private to parse/. Runs only on trees without syntax errors,
// and reports the few rules of syntax that the grammar does not state.
#pragma once

#include "SchedParser.h"
#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source_manager.h"

namespace pp::parse {

class AstBuilder {
 public:
  AstBuilder(const source::SourceManager& sources, uint32_t file,
             diag::Emitter& diag)
      : sources_(sources), file_(file), diag_(diag) {}

  using P = grammar::SchedParser;

  ast::File BuildFile(P::FileContext* context);
  bool failed() const { return failed_; }

 private:
  diag::Builder Fail(diag::Code code, source::Span where, std::string message) {
    failed_ = true;
    return diag_.Emit(code, where, std::move(message));
  }
  source::Span SpanOf(antlr4::ParserRuleContext* context) const;
  source::Span SpanOf(antlr4::tree::TerminalNode* node) const;
  std::string TextOf(source::Span span) const;

  // Declarations: ast_builder.cpp.
  ast::ImportDecl BuildImport(P::ImportDeclContext* context);
  ast::MacroDecl BuildMacro(P::MacroDeclContext* context);
  ast::ScheduleDecl BuildSchedule(P::ScheduleDeclContext* context);
  ast::Parameter BuildParameter(P::ParameterContext* context);
  std::optional<ast::Item> BuildItem(P::ItemContext* context);
  ast::RequireDecl BuildRequire(P::RequireDeclContext* context);
  ast::PlaceDecl BuildPlace(P::PlacementContext* context);
  ast::CustomRule BuildCustomRule(P::CustomRuleContext* context);
  ast::WalkDecl BuildWalk(P::WalkDeclContext* context);
  ast::RankDecl BuildRank(P::RankDeclContext* context);
  ast::ExpectDecl BuildExpect(P::ExpectDeclContext* context);
  ast::QuantitiesDecl BuildQuantities(P::QuantitiesDeclContext* context);
  std::string BuildText(antlr4::tree::TerminalNode* node);
  ast::Identifier BuildName(P::NameContext* context);

  // Statements: statement_builder.cpp.
  ast::Block BuildBlock(P::BlockContext* context);
  std::optional<ast::Stmt> BuildStatement(P::StmtContext* context);
  ast::OpStmt BuildOp(P::OpStmtContext* context);
  ast::OpStmt BuildTerm(P::OpTermContext* context);
  ast::LetStmt BuildLet(P::LetStmtContext* context);
  ast::PhaseStmt BuildPhase(P::PhaseStmtContext* context);
  ast::RepeatStmt BuildRepeat(P::RepeatStmtContext* context);
  ast::ForStmt BuildFor(P::ForStmtContext* context);
  ast::IfStmt BuildIf(P::IfStmtContext* context);
  ast::MacroCall BuildMacroCall(P::MacroCallContext* context);
  ast::OpLetter BuildLetter(P::OpLetterContext* context);

  // Expressions: expression_builder.cpp. `BuildBound` takes the expression
  // before `in`, or alone behind `rank`: a name to bind, or nullopt.
  ast::ExprPtr BuildExpr(P::ExprContext* context);
  ast::ExprPtr BuildUnary(P::ExprUnaryContext* context);
  ast::ExprPtr BuildBinary(P::ExprBinaryContext* context);
  ast::ExprPtr BuildConditional(P::ExprConditionalContext* context);
  ast::ExprPtr BuildPrimary(P::PrimaryContext* context);
  ast::ExprPtr BuildArgument(P::ArgumentContext* context);
  std::vector<ast::ExprPtr> BuildExprs(
      const std::vector<P::ExprContext*>& contexts);
  std::optional<ast::Identifier> BuildBound(P::ExprContext* context);
  std::optional<ast::Identifier> RequireBound(P::ExprContext* context);
  void CheckChain(P::ExprContext* operand, source::Span op);

  template <class Node>
  ast::ExprPtr Make(antlr4::ParserRuleContext* context, Node node) const {
    return std::make_unique<ast::Expr>(
        ast::Expr{SpanOf(context), std::move(node)});
  }

  const source::SourceManager& sources_;
  uint32_t file_;
  diag::Emitter& diag_;
  bool failed_ = false;
};

}  // namespace pp::parse
