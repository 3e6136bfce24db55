#include "compiler/parse/error_strategy.h"

#include "compiler/diag/suggest.h"
#include "fmt/format.h"

namespace pp::parse {
namespace {

using P = grammar::SchedParser;
using diag::Code;

Token* Here(antlr4::Parser* parser) { return parser->getTokenStream()->LT(1); }

size_t TypeHere(antlr4::Parser* parser) {
  return parser->getTokenStream()->LA(1);
}

bool BeginsLine(antlr4::Parser* parser) {
  const Token* before = parser->getTokenStream()->LT(-1);
  return before == nullptr || before->getLine() < Here(parser)->getLine();
}

bool AtEnd(antlr4::Parser* parser) { return TypeHere(parser) == Token::EOF; }

bool StopsStatement(size_t type) {
  const bool may_be_an_operand = type >= P::LINEAR && type <= P::CHUNK;
  return (StartsStatement(type) && type != P::IDENT && !may_be_an_operand) ||
         StartsItem(type) || type == P::SCHEDULE || type == P::SEMI;
}

bool StopsItem(size_t type) {
  return StartsItem(type) || type == P::SCHEDULE || type == P::SEMI;
}

bool StopsCustomRule(size_t type) {
  return type == P::STAGE || (StartsItem(type) && type != P::RANK) ||
         type == P::SCHEDULE;
}

bool StopsHead(size_t type) {
  return type == P::LBRACE || StartsTopLevel(type);
}

bool StopsTopLevel(size_t type) {
  return StartsTopLevel(type) || type == P::SEMI;
}

std::string_view MeantOperator(llvm::StringRef word) {
  return word == "and" ? "&&" : word == "or" ? "||" : word == "not" ? "!" : "";
}

}  // namespace

ErrorStrategy::ErrorStrategy(const source::SourceManager& sources,
                             uint32_t file, const Tainted& tainted,
                             diag::Emitter& diag)
    : sources_(sources), file_(file), tainted_(tainted), diag_(diag) {}

// ---- Words -----------------------------------------------------------------

const ErrorWords& ErrorStrategy::Words(antlr4::Parser* parser) {
  if (!words_) words_.emplace(parser->getVocabulary());
  return *words_;
}

source::Span ErrorStrategy::SpanOf(const Token& token) const {
  return parse::SpanOf(file_, token);
}

std::string ErrorStrategy::NameOf(const Token& token) const {
  if (token.getType() == Token::EOF) return "the end of the file";
  if (token.getType() == P::STRING) return "a text";
  constexpr size_t kMaxShown = 40;
  const llvm::StringRef text = sources_.Text(SpanOf(token));
  return fmt::format("`{}{}`", text.take_front(kMaxShown).str(),
                     text.size() > kMaxShown ? "..." : "");
}

bool ErrorStrategy::IsQuiet(const Token& token) const {
  return tainted_.count(token.getStartIndex()) > 0;
}

std::string ErrorStrategy::Hint(antlr4::Parser* parser, const Token& token,
                                const TypeSet& expected) {
  const size_t type = token.getType();
  const llvm::StringRef text = sources_.Text(SpanOf(token));
  const TypeSet all = expected | Remembered(parser);
  if (type == P::ASSIGN && all.test(P::EQ)) {
    return "`==` compares two values";
  }
  if (type == P::IDENT) {
    const std::string_view meant = MeantOperator(text);
    if (!meant.empty()) return fmt::format("write `{}`", meant);
    return diag::DidYouMean({text.data(), text.size()},
                            Words(parser).Keywords(all));
  }
  if (!expected.test(P::IDENT) || BeginsLine(parser)) return "";
  if (IsOperation(type)) {
    return fmt::format("`{}` is an operation and cannot be a name", text.str());
  }
  if (IsKeyword(type)) {
    return fmt::format("`{}` is a keyword and cannot be a name", text.str());
  }
  return "";
}

// ---- What could have stood here --------------------------------------------

void ErrorStrategy::Remember(antlr4::Parser* parser) {
  const size_t at = parser->getTokenStream()->index();
  if (at != passed_at_) passed_states_.clear();
  passed_at_ = at;
  passed_states_.push_back(parser->getState());
}

TypeSet ErrorStrategy::Remembered(antlr4::Parser* parser) const {
  TypeSet set;
  if (parser->getTokenStream()->index() != passed_at_) return set;
  const antlr4::atn::ATN& atn = parser->getATN();
  for (size_t state : passed_states_) {
    set |= ToSet(atn.nextTokens(atn.states[state]));
  }
  return set;
}

// Adds to what the grammar wants what it would have taken before: the `,` of a
// list, the first element of an empty one, the next rule of a placement.
TypeSet ErrorStrategy::WithLists(antlr4::Parser* parser,
                                 TypeSet expected) const {
  if (parser->getTokenStream()->index() != passed_at_) return expected;
  const antlr4::atn::ATN& atn = parser->getATN();
  for (size_t state : passed_states_) {
    const TypeSet set = ToSet(atn.nextTokens(atn.states[state]));
    if (set.test(P::IDENT)) expected |= set;
    if (set.test(P::COMMA)) expected.set(P::COMMA);
    if (set.test(P::STAGE)) expected.set(P::STAGE);
  }
  return expected;
}

// ---- Reports ---------------------------------------------------------------

void ErrorStrategy::beginErrorCondition(antlr4::Parser* parser) {
  failed_ = true;
  DefaultErrorStrategy::beginErrorCondition(parser);
}

void ErrorStrategy::reportError(antlr4::Parser* parser,
                                const antlr4::RecognitionException& error) {
  if (inErrorRecoveryMode(parser)) return;
  const TypeSet expected = ToSet(error.getExpectedTokens());
  const size_t found = error.getOffendingToken()->getType();
  // `let F = 3`: F stands for the name, and begins nothing.
  taken_as_name_ = expected.test(P::IDENT) && !expected.test(P::INT) &&
                   (IsKeyword(found) || IsOperation(found));
  braces_blamed_ |= expected.test(P::LBRACE);
  Report(parser, error.getOffendingToken(), WithLists(parser, expected));
}

void ErrorStrategy::Report(antlr4::Parser* parser, Token* token,
                           const TypeSet& expected) {
  beginErrorCondition(parser);
  if (IsQuiet(*token)) return;
  antlr4::ParserRuleContext* context = parser->getContext();
  if (context->getRuleIndex() == P::RuleMacroCall && expected.test(P::LPAREN) &&
      ReportNoStatement(parser, *context->start)) {
    return;
  }
  if (context->getRuleIndex() == P::RuleFile && token->getType() == P::RBRACE) {
    braces_blamed_ = true;
    diag_.Emit(Code::kUnexpectedToken, SpanOf(*token),
               "this `}` closes nothing");
    return;
  }
  ReportUnexpected(parser, {token, parser->getTokenStream()->LT(-1)}, expected);
}

void ErrorStrategy::ReportUnexpected(antlr4::Parser* parser, const Found& found,
                                     const TypeSet& expected) {
  const Token& token = *found.token;
  std::string message = fmt::format(
      "expected {}, found {}", Words(parser).Expected(expected), NameOf(token));
  source::Span where = SpanOf(token);
  // What is missing at the end of a line is shown there.
  const bool line_ended =
      found.before != nullptr && found.before->getLine() < token.getLine();
  const bool between_lines =
      expected.test(P::RBRACE) || expected.test(kEndOfFile);
  if (line_ended && !between_lines) {
    where = SpanOf(*found.before);
    where.begin = where.end;
    message += " on a later line";
  }
  diag_.Emit(Code::kUnexpectedToken, where, std::move(message))
      .Help(Hint(parser, token, expected));
}

// A statement that begins with a name is a macro call; a name without
// parentheses is more often a keyword misspelt.
bool ErrorStrategy::ReportNoStatement(antlr4::Parser* parser,
                                      const Token& name) {
  if (IsQuiet(name)) return true;
  const llvm::StringRef word = sources_.Text(SpanOf(name));
  TypeSet starts;
  for (size_t type = 1; type <= P::UNKNOWN; ++type) {
    if (IsKeyword(type) && StartsStatement(type)) starts.set(type);
  }
  starts.set(P::ELSE);
  std::string help = diag::DidYouMean({word.data(), word.size()},
                                      Words(parser).Keywords(starts));
  if (help.empty()) {
    help = fmt::format("a macro is called with parentheses: `{}()`",
                       word.take_front(40).str());
  }
  diag_
      .Emit(Code::kUnexpectedToken, SpanOf(name),
            fmt::format("{} does not begin a statement", NameOf(name)))
      .Help(std::move(help));
  return true;
}

void ErrorStrategy::ReportOpenBrace(antlr4::Parser* parser) {
  if (inErrorRecoveryMode(parser)) return;
  beginErrorCondition(parser);
  const Token& found = *Here(parser);
  if (braces_blamed_ || IsQuiet(found)) return;
  braces_blamed_ = true;
  diag_
      .Emit(Code::kUnexpectedToken, SpanOf(found),
            fmt::format("expected `}}`, found {}", NameOf(found)))
      .Note(SpanOf(*parser->getContext()->start), "this `{` is still open");
}

// ---- Going on --------------------------------------------------------------

void ErrorStrategy::recover(antlr4::Parser* parser, std::exception_ptr error) {
  if (taken_as_name_) parser->consume();
  taken_as_name_ = false;
  const bool places = parser->getContext()->start != nullptr &&
                      parser->getContext()->start->getType() == P::PLACE;
  switch (parser->getContext()->getRuleIndex()) {
    case P::RuleStmt:
      SkipTo(parser, StopsStatement, /*read_blocks=*/true);
      break;
    case P::RuleItem:
      SkipTo(parser, StopsItem, /*read_blocks=*/!places);
      break;
    case P::RuleCustomRule:
      SkipTo(parser, StopsCustomRule, /*read_blocks=*/false);
      break;
    case P::RulePlacement:
      if (!LeaveCustomPlacement(parser)) std::rethrow_exception(error);
      break;
    case P::RuleTopLevel:
      SkipTo(parser, StopsTopLevel, /*read_blocks=*/false);
      break;
    case P::RuleScheduleHead:
      // A missing `{` behind it would be no news: stay in recovery mode.
      return SkipTo(parser, StopsHead, /*read_blocks=*/false);
    default:
      std::rethrow_exception(error);
  }
  endErrorCondition(parser);
}

// From between the rules of `custom { ... }` to behind its `}`.
bool ErrorStrategy::LeaveCustomPlacement(antlr4::Parser* parser) {
  auto* custom = dynamic_cast<P::PlaceCustomContext*>(parser->getContext());
  if (custom == nullptr || custom->LBRACE() == nullptr) return false;
  SkipTo(parser, StopsCustomRule, /*read_blocks=*/false);
  while (TypeHere(parser) == P::STAGE) {
    parser->consume();
    SkipTo(parser, StopsCustomRule, /*read_blocks=*/false);
  }
  if (TypeHere(parser) == P::RBRACE) parser->consume();
  return true;
}

Token* ErrorStrategy::recoverInline(antlr4::Parser* parser) {
  const size_t rule = parser->getContext()->getRuleIndex();
  const TypeSet expected = ToSet(parser->getExpectedTokens());
  const bool in_lines = rule == P::RuleBlock || rule == P::RuleBody;
  if (in_lines && expected.test(P::RBRACE)) {
    ReportOpenBrace(parser);
    return Here(parser);
  }
  throw antlr4::InputMismatchException(parser);
}

void ErrorStrategy::sync(antlr4::Parser* parser) {
  const antlr4::atn::ATN& atn = parser->getATN();
  const size_t type = TypeHere(parser);
  if (type == P::SCHEDULE) braces_blamed_ = false;  // a fresh start
  if (atn.nextTokens(atn.states[parser->getState()]).contains(type)) return;
  Remember(parser);
  switch (parser->getContext()->getRuleIndex()) {
    case P::RuleFile:
    case P::RuleBody:
    case P::RuleBlock:
      return SyncLines(parser);
    default:
      return;
  }
}

bool ErrorStrategy::IsLineOf(size_t rule, size_t type) const {
  if (type == P::SEMI || type == Token::EOF) return true;
  if (rule == P::RuleFile) return StartsTopLevel(type);
  if (type == P::RBRACE || type == P::SCHEDULE || StartsItem(type)) return true;
  return rule == P::RuleBlock && StartsStatement(type);
}

// Between the lines of a block, a schedule or a file: what cannot begin one is
// reported and skipped.
void ErrorStrategy::SyncLines(antlr4::Parser* parser) {
  antlr4::ParserRuleContext* context = parser->getContext();
  const size_t rule = context->getRuleIndex();
  while (!IsLineOf(rule, TypeHere(parser))) {
    Token* token = Here(parser);
    const TypeSet expected = ToSet(parser->getExpectedTokens());
    // Behind a brace that is missing or too many, lines that look lost are not.
    const bool lost = rule == P::RuleFile && braces_blamed_;
    if (!inErrorRecoveryMode(parser) && !lost) {
      Report(parser, token, expected);
    }
    // A keyword misspelt: the block behind it is worth reading.
    const bool read_blocks =
        rule != P::RuleFile && !Hint(parser, *token, expected).empty();
    parser->consume();
    const auto stops = rule == P::RuleFile   ? StopsTopLevel
                       : rule == P::RuleBody ? StopsItem
                                             : StopsStatement;
    SkipTo(parser, stops, read_blocks);
    endErrorCondition(parser);
  }
}

// Stops at a `}` that closes something around. Operations inside parentheses
// are operands: `t(F)`; `-> rank` belongs to a placement.
void ErrorStrategy::SkipTo(antlr4::Parser* parser, bool (*stops)(size_t),
                           bool read_blocks) {
  size_t open = 0;
  size_t before = 0;
  while (!AtEnd(parser)) {
    const size_t type = TypeHere(parser);
    if (type == P::IDENT && open == 0 && BeginsLine(parser)) return;
    const bool operand = (open > 0 && IsOperation(type)) ||
                         (before == P::ARROW && type == P::RANK);
    if (type == P::RBRACE || (stops(type) && !operand)) return;
    if (type == P::LBRACE && read_blocks) {
      endErrorCondition(parser);
      static_cast<Parser*>(parser)->block();
      return;
    }
    if (type == P::LBRACE) {
      SkipBraces(parser);
      continue;
    }
    if (type == P::LPAREN) ++open;
    if (type == P::RPAREN && open > 0) --open;
    before = type;
    parser->consume();
  }
}

// A schedule never stands in braces: at the next one, a `}` was missing.
void ErrorStrategy::SkipBraces(antlr4::Parser* parser) {
  size_t depth = 0;
  do {
    const size_t type = TypeHere(parser);
    if (type == Token::EOF || type == P::SCHEDULE) {
      braces_blamed_ = true;
      return;
    }
    if (type == P::LBRACE) ++depth;
    if (type == P::RBRACE) --depth;
    parser->consume();
  } while (depth > 0);
}

}  // namespace pp::parse
