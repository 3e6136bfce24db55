#include "compiler/parse/tokens.h"

#include "SchedLexer.h"
#include "fmt/format.h"

namespace pp::parse {
namespace {

using Lexer = grammar::SchedLexer;

bool IsOperator(size_t type) {
  return (type >= Lexer::OR && type <= Lexer::NOT) || type == Lexer::QUESTION ||
         type == Lexer::COLON;
}

// No expression goes on behind one of these.
bool EndsExpression(size_t type) {
  return (type >= Lexer::SCHEDULE && type <= Lexer::WHEN) ||
         (type >= Lexer::OP_F && type <= Lexer::OP_W) || type == Lexer::COMMA ||
         type == Lexer::SEMI;
}

// Bounds the depth of the syntax tree before there is one. Every operator
// counts as one level until its expression ends: `a + b + c` leans left by as
// much, `- - a` nests by as much.
class DepthGauge {
 public:
  DepthGauge() : levels_(1) {}

  // The depth at this token.
  size_t Read(size_t type) {
    const bool chain_ends = after_brace_ && type != Lexer::ELSE;
    if (chain_ends) Set(levels_.back().elses, 0);
    after_brace_ = type == Lexer::RBRACE;
    if (EndsExpression(type)) Set(levels_.back().operators, 0);
    if (IsOperator(type)) Set(levels_.back().operators, Top().operators + 1);
    if (type == Lexer::ELSE) Set(levels_.back().elses, Top().elses + 1);
    if (Opens(type)) {
      if (type == Lexer::LBRACE) Set(levels_.back().operators, 0);
      levels_.push_back({});
      ++depth_;
    }
    if (Closes(type)) Pop();
    return depth_;
  }

 private:
  struct Level {
    size_t operators = 0;
    size_t elses = 0;
  };

  static bool Opens(size_t type) {
    return type == Lexer::LBRACE || type == Lexer::LPAREN ||
           type == Lexer::LBRACKET;
  }
  static bool Closes(size_t type) {
    return type == Lexer::RBRACE || type == Lexer::RPAREN ||
           type == Lexer::RBRACKET;
  }
  const Level& Top() const { return levels_.back(); }
  void Set(size_t& count, size_t value) {
    depth_ = depth_ - count + value;
    count = value;
  }
  void Pop() {
    if (levels_.size() == 1) return;
    depth_ -= Top().operators + Top().elses + 1;
    levels_.pop_back();
  }

  std::vector<Level> levels_;
  size_t depth_ = 0;  // the sum over levels_
  bool after_brace_ = false;
};

// The end of the file, as if the text ended where `token` begins.
std::unique_ptr<Token> EndAt(const Token& token) {
  auto end = std::make_unique<antlr4::CommonToken>(
      std::pair(token.getTokenSource(), token.getInputStream()), Token::EOF,
      Token::DEFAULT_CHANNEL, token.getStartIndex(), token.getStopIndex());
  return end;
}

}  // namespace

source::Span SpanOf(uint32_t file, const Token& token) {
  const auto begin = static_cast<uint32_t>(token.getStartIndex());
  const bool is_end = token.getType() == Token::EOF;
  return {file, begin,
          is_end ? begin : static_cast<uint32_t>(token.getStopIndex()) + 1};
}

llvm::StringRef TextOf(const source::SourceManager& sources, uint32_t file,
                       const Token& token) {
  return sources.Text(SpanOf(file, token));
}

std::optional<TokenList> ReadTokens(antlr4::CharStream& stream, uint32_t file,
                                    diag::Emitter& diag) {
  Lexer lexer(&stream);
  lexer.removeErrorListeners();  // there are no lexer errors
  TokenList tokens;
  DepthGauge gauge;
  while (tokens.empty() || tokens.back()->getType() != Token::EOF) {
    tokens.push_back(lexer.nextToken());
    const Token& token = *tokens.back();
    if (gauge.Read(token.getType()) > kMaxDepth) {
      diag.Emit(diag::Code::kNestedTooDeep, SpanOf(file, token),
                fmt::format("nested deeper than {} levels", kMaxDepth));
      return std::nullopt;
    }
    if (tokens.size() > kMaxTokens) {
      diag.Emit(
          diag::Code::kTooManyTokens, SpanOf(file, token),
          fmt::format("more than {} words, numbers and signs", kMaxTokens));
      return std::nullopt;
    }
    // What follows is inside the comment. (Looking for its end again from
    // each `/*` in there would take quadratic time.)
    if (token.getType() == Lexer::OPEN_COMMENT) {
      tokens.push_back(EndAt(token));
    }
  }
  return tokens;
}

}  // namespace pp::parse
