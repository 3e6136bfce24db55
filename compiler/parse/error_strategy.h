// How the parser goes on after a syntax error. Private to parse/.
//
// An error ends the smallest of: a statement, a line of a schedule, a rule of
// a custom placement, a schedule's head, a top-level declaration. What is left
// of it is skipped, whole brackets at a time, up to where the next one begins;
// a block behind a broken head is still read, so that its errors show in the
// same run. A missing `}` is assumed where a line begins that cannot stand in
// the block. Nothing is said twice about one mistake, and about unbalanced
// braces only once in a
// schedule.
#pragma once

#include <optional>

#include "SchedParser.h"
#include "compiler/parse/error_words.h"
#include "compiler/parse/token_check.h"

namespace pp::parse {

class ErrorStrategy : public antlr4::DefaultErrorStrategy {
 public:
  ErrorStrategy(const source::SourceManager& sources, uint32_t file,
                const Tainted& tainted, diag::Emitter& diag);

  // Whether there was any syntax error, shown or not: there is no tree then.
  bool failed() const { return failed_; }

  void reportError(antlr4::Parser* parser,
                   const antlr4::RecognitionException& error) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 protected:
  void beginErrorCondition(antlr4::Parser* parser) override;

 private:
  using Parser = grammar::SchedParser;

  struct Found {
    Token* token;
    Token* before;  // may be null
  };

  const ErrorWords& Words(antlr4::Parser* parser);
  std::string NameOf(const Token& token) const;
  source::Span SpanOf(const Token& token) const;
  bool IsQuiet(const Token& token) const;

  void Remember(antlr4::Parser* parser);
  TypeSet Remembered(antlr4::Parser* parser) const;
  TypeSet WithLists(antlr4::Parser* parser, TypeSet expected) const;

  void Report(antlr4::Parser* parser, Token* token, const TypeSet& expected);
  void ReportUnexpected(antlr4::Parser* parser, const Found& found,
                        const TypeSet& expected);
  bool ReportNoStatement(antlr4::Parser* parser, const Token& name);
  void ReportOpenBrace(antlr4::Parser* parser);
  std::string Hint(antlr4::Parser* parser, const Token& token,
                   const TypeSet& expected);

  void SyncLines(antlr4::Parser* parser);
  bool IsLineOf(size_t rule, size_t type) const;
  void SkipTo(antlr4::Parser* parser, bool (*stops)(size_t), bool read_blocks);
  bool LeaveCustomPlacement(antlr4::Parser* parser);
  void SkipBraces(antlr4::Parser* parser);

  const source::SourceManager& sources_;
  uint32_t file_;
  const Tainted& tainted_;
  diag::Emitter& diag_;
  std::optional<ErrorWords> words_;
  bool braces_blamed_ = false;  // in this schedule
  bool taken_as_name_ = false;
  bool failed_ = false;

  // States at which optional parts were passed over, all at one token: what
  // could have stood there as well.
  std::vector<size_t> passed_states_;
  size_t passed_at_ = 0;
};

}  // namespace pp::parse
