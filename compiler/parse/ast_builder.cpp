#include "compiler/parse/ast_builder.h"

#include "compiler/parse/tokens.h"

namespace pp::parse {
namespace {

bool IsComparison(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kEq:
    case ast::BinaryOp::kNe:
    case ast::BinaryOp::kLt:
    case ast::BinaryOp::kLe:
    case ast::BinaryOp::kGt:
    case ast::BinaryOp::kGe:
      return true;
    case ast::BinaryOp::kAdd:
    case ast::BinaryOp::kSub:
    case ast::BinaryOp::kMul:
    case ast::BinaryOp::kDiv:
    case ast::BinaryOp::kMod:
    case ast::BinaryOp::kAnd:
    case ast::BinaryOp::kOr:
      return false;
  }
  return false;
}

}  // namespace

source::Span AstBuilder::SpanOf(antlr4::ParserRuleContext* context) const {
  const source::Span first = parse::SpanOf(file_, *context->start);
  const antlr4::Token* stop =
      context->stop != nullptr ? context->stop : context->start;
  return {file_, first.begin, parse::SpanOf(file_, *stop).end};
}

source::Span AstBuilder::SpanOf(antlr4::tree::TerminalNode* node) const {
  return parse::SpanOf(file_, *node->getSymbol());
}

std::string AstBuilder::TextOf(source::Span span) const {
  return sources_.Text(span).str();
}

ast::File AstBuilder::BuildFile(P::FileContext* context) {
  ast::File file;
  file.file = file_;
  for (P::TopLevelContext* line : context->topLevel()) {
    if (auto* import = line->importDecl()) {
      file.imports.push_back(BuildImport(import));
    } else if (auto* macro = line->macroDecl()) {
      file.macros.push_back(BuildMacro(macro));
    } else if (auto* schedule = line->scheduleDecl()) {
      file.schedules.push_back(BuildSchedule(schedule));
    }
  }
  return file;
}

ast::ImportDecl AstBuilder::BuildImport(P::ImportDeclContext* context) {
  return {SpanOf(context), BuildText(context->STRING())};
}

ast::MacroDecl AstBuilder::BuildMacro(P::MacroDeclContext* context) {
  ast::MacroDecl macro;
  std::vector<P::NameContext*> names = context->name();
  macro.name = BuildName(names.front());
  for (size_t i = 1; i < names.size(); ++i) {
    macro.params.push_back(BuildName(names[i]));
  }
  macro.body = BuildBlock(context->block());
  return macro;
}

ast::ScheduleDecl AstBuilder::BuildSchedule(P::ScheduleDeclContext* context) {
  P::ScheduleHeadContext* head = context->scheduleHead();
  ast::ScheduleDecl schedule;
  schedule.span = SpanOf(head);
  schedule.name = BuildName(head->name(0));
  for (P::ParameterContext* parameter : head->parameter()) {
    schedule.params.push_back(BuildParameter(parameter));
  }
  if (head->EXTENDS() != nullptr) schedule.parent = BuildName(head->name(1));
  for (P::ItemContext* line : context->body()->item()) {
    if (auto item = BuildItem(line)) {
      schedule.items.push_back(std::move(*item));
    }
  }
  return schedule;
}

ast::Parameter AstBuilder::BuildParameter(P::ParameterContext* context) {
  return {BuildName(context->name()),
          context->expr() ? BuildExpr(context->expr()) : nullptr};
}

// nullopt: a lone `;`.
std::optional<ast::Item> AstBuilder::BuildItem(P::ItemContext* context) {
  const source::Span span = SpanOf(context);
  const auto make = [&](auto node) { return ast::Item{span, std::move(node)}; };
  if (auto* c = context->requireDecl()) return make(BuildRequire(c));
  if (auto* c = context->letStmt()) return make(BuildLet(c));
  if (auto* c = context->placeDecl()) return make(BuildPlace(c->placement()));
  if (auto* c = context->walkDecl()) return make(BuildWalk(c));
  if (auto* c = context->rankDecl()) return make(BuildRank(c));
  if (auto* c = context->phaseStmt()) return make(BuildPhase(c));
  if (auto* c = context->macroDecl()) return make(BuildMacro(c));
  if (auto* c = context->expectDecl()) return make(BuildExpect(c));
  if (auto* c = context->quantitiesDecl()) return make(BuildQuantities(c));
  return std::nullopt;
}

ast::RequireDecl AstBuilder::BuildRequire(P::RequireDeclContext* context) {
  ast::RequireDecl require{BuildExpr(context->expr()), std::nullopt};
  if (context->STRING() != nullptr) {
    require.message = BuildText(context->STRING());
  }
  return require;
}

ast::PlaceDecl AstBuilder::BuildPlace(P::PlacementContext* context) {
  if (auto* loop = dynamic_cast<P::PlaceLoopContext*>(context)) {
    return {ast::PlaceLoop{BuildExpr(loop->expr())}};
  }
  if (dynamic_cast<P::PlaceVeeContext*>(context) != nullptr) {
    return {ast::PlaceVee{}};
  }
  if (auto* wave = dynamic_cast<P::PlaceWaveContext*>(context)) {
    return {ast::PlaceWave{BuildExpr(wave->expr())}};
  }
  if (auto* custom = dynamic_cast<P::PlaceCustomContext*>(context)) {
    ast::PlaceCustom place;
    for (P::CustomRuleContext* rule : custom->customRule()) {
      place.rules.push_back(BuildCustomRule(rule));
    }
    return {std::move(place)};
  }
  return {ast::PlaceLinear{}};
}

ast::CustomRule AstBuilder::BuildCustomRule(P::CustomRuleContext* context) {
  ast::CustomRule rule;
  rule.span = SpanOf(context);
  const std::vector<P::ExprContext*> exprs = context->expr();
  if (P::RangeContext* range = context->range()) {
    rule.variable = RequireBound(exprs[0]);
    rule.begin = BuildExpr(range->expr(0));
    rule.end = BuildExpr(range->expr(1));
  } else {
    rule.begin = BuildExpr(exprs[0]);
  }
  rule.rank = BuildExpr(exprs[1]);
  if (exprs.size() > 2) rule.chunk = BuildExpr(exprs[2]);
  return rule;
}

ast::WalkDecl AstBuilder::BuildWalk(P::WalkDeclContext* context) {
  return {BuildLetter(context->opLetter()), SpanOf(context->opLetter()),
          BuildExprs(context->expr())};
}

ast::RankDecl AstBuilder::BuildRank(P::RankDeclContext* context) {
  ast::RankDecl rank;
  if (context->SLOTS() != nullptr) rank.form = ast::RankForm::kSlots;
  if (context->BLOCK() != nullptr) {
    rank.form = ast::RankForm::kBlock;
    rank.period = BuildExpr(context->expr(1));
  }
  if (P::RangeContext* range = context->range()) {
    rank.variable = RequireBound(context->expr(0));
    rank.begin = BuildExpr(range->expr(0));
    rank.end = BuildExpr(range->expr(1));
  } else {
    rank.variable = BuildBound(context->expr(0));
    if (!rank.variable) rank.begin = BuildExpr(context->expr(0));
  }
  rank.body = BuildBlock(context->block());
  return rank;
}

ast::ExpectDecl AstBuilder::BuildExpect(P::ExpectDeclContext* context) {
  ast::ExpectDecl expect;
  expect.claim = BuildExpr(context->expr(0));
  if (context->WHEN() != nullptr) {
    expect.condition = BuildExpr(context->expr(1));
  }
  const auto* claim = std::get_if<ast::BinaryExpr>(&expect.claim->node);
  if (claim == nullptr || !IsComparison(claim->op)) {
    Fail(diag::Code::kExpectNoComparison, expect.claim->span,
         "an `expect` compares two values, and this does not")
        .Help("write `expect LEFT == RIGHT`, one line for each claim");
  }
  return expect;
}

ast::QuantitiesDecl AstBuilder::BuildQuantities(
    P::QuantitiesDeclContext* context) {
  const source::Span span = SpanOf(context->QUANTITIES());
  const std::string text = TextOf(span);
  const size_t begin = text.find('{') + 1;
  ast::QuantitiesDecl decl;
  decl.memory = text.front() == 'm';
  decl.text = text.substr(begin, text.size() - 1 - begin);
  decl.text_span = {span.file, span.begin + static_cast<uint32_t>(begin),
                    span.end - 1};
  return decl;
}

// Without the quotes; token_check has seen to the escapes.
std::string AstBuilder::BuildText(antlr4::tree::TerminalNode* node) {
  const std::string quoted = TextOf(SpanOf(node));
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') ++i;
    text += quoted[i];
  }
  return text;
}

ast::Identifier AstBuilder::BuildName(P::NameContext* context) {
  const source::Span span = SpanOf(context);
  return {TextOf(span), span};
}

}  // namespace pp::parse
