#include "compiler/parse/token_check.h"

#include "SchedLexer.h"
#include "fmt/format.h"
#include "llvm/Support/ConvertUTF.h"

namespace pp::parse {
namespace {

using Lexer = grammar::SchedLexer;
using diag::Code;

struct Reserved {
  llvm::StringLiteral word;
  llvm::StringLiteral meaning;
  size_t stands_for;  // the token type that the parser sees
};

constexpr Reserved kReserved[] = {
    {"weights", "rules for weight versions", Lexer::IDENT},
    {"table", "programs and placements given as tables", Lexer::IDENT},
    {"bidir", "the bidirectional placement", Lexer::VEE},
    {"R", "the recompute operation", Lexer::OP_F},
    {"U", "the update operation", Lexer::OP_F},
};

// Characters that look like ones of the language.
struct LookAlike {
  llvm::StringLiteral character;
  llvm::StringLiteral meant;
  size_t stands_for;  // 0: nothing
};

constexpr LookAlike kLookAlikes[] = {
    {"\u2265", ">=", Lexer::GE},
    {"\u2264", "<=", Lexer::LE},
    {"\u2260", "!=", Lexer::NE},
    {"\u00d7", "*", Lexer::STAR},
    {"\u00b7", "*", Lexer::STAR},
    {"\u22c5", "*", Lexer::STAR},
    {"\u2212", "-", Lexer::MINUS},
    {"\u2013", "-", Lexer::MINUS},
    {"\u2014", "-", Lexer::MINUS},
    {"\u00f7", "/", Lexer::SLASH},
    {"\u2192", "->", Lexer::ARROW},
    {"\u2026", "..", Lexer::DOTDOT},
    {"\u2227", "&&", Lexer::AND},
    {"\u2228", "||", Lexer::OR},
    {"\u00ac", "!", Lexer::NOT},
    {"\u201c", "\"", 0},
    {"\u201d", "\"", 0},
    {"\u00a0", " ", 0},
    {".", "..", Lexer::DOTDOT},
    {"'", "\"", 0},
    {"#", "//", 0},
    {"|", "||", Lexer::OR},
};

const LookAlike* FindLookAlike(llvm::StringRef character) {
  for (const LookAlike& row : kLookAlikes) {
    if (row.character == character) return &row;
  }
  return nullptr;
}

// One character of text that is known to be UTF-8.
llvm::StringRef FirstCharacter(llvm::StringRef text) {
  return text.take_front(llvm::getNumBytesForUTF8(text.front()));
}

unsigned CodePoint(llvm::StringRef character) {
  const auto* at = reinterpret_cast<const llvm::UTF8*>(character.data());
  llvm::UTF32 code_point = 0;
  llvm::convertUTF8Sequence(&at, at + character.size(), &code_point,
                            llvm::strictConversion);
  return code_point;
}

class Checker {
 public:
  Checker(TokenList tokens, const source::SourceManager& sources, uint32_t file,
          diag::Emitter& diag)
      : tokens_(std::move(tokens)),
        sources_(sources),
        file_(file),
        diag_(diag) {}

  CheckedTokens Run() {
    while (at_ < tokens_.size()) Step();
    return std::move(out_);
  }

 private:
  const Token& Here() const { return *tokens_[at_]; }
  source::Span Span() const { return SpanOf(file_, Here()); }
  llvm::StringRef Text() const { return TextOf(sources_, file_, Here()); }
  size_t TypeAt(size_t index) const {
    return index < tokens_.size() ? tokens_[index]->getType() : Token::EOF;
  }

  void Step() {
    switch (Here().getType()) {
      case Lexer::RESERVED:
        return CheckReserved();
      case Lexer::INT:
        return CheckInteger();
      case Lexer::STRING:
        return CheckEscapes();
      case Lexer::DECIMAL:
      case Lexer::BAD_NUMBER:
        return CheckNumber();
      case Lexer::OPEN_STRING:
        return CheckOpenString();
      case Lexer::OPEN_COMMENT:
        Fail(Code::kUnterminated,
             source::Span{file_, Span().begin, Span().begin + 2},
             "this comment is not closed by `*/`");
        return Drop();
      case Lexer::FOREIGN:
      case Lexer::UNKNOWN:
        return CheckCharacter();
      default:
        return Keep();
    }
  }

  diag::Builder Fail(Code code, source::Span where, std::string message) {
    out_.ok = false;
    return diag_.Emit(code, where, std::move(message));
  }

  void Keep() { out_.tokens.push_back(std::move(tokens_[at_++])); }

  // The parser sees `type` here, and says nothing about it.
  void KeepAs(size_t type) {
    out_.tainted.insert(Here().getStartIndex());
    TaintNext();
    static_cast<antlr4::WritableToken&>(*tokens_[at_]).setType(type);
    Keep();
  }

  void Drop() {
    TaintNext();
    ++at_;
  }

  void TaintNext() {
    if (at_ + 1 < tokens_.size()) {
      out_.tainted.insert(tokens_[at_ + 1]->getStartIndex());
    }
  }

  void CheckQuantities();
  void CheckReserved();
  size_t EndOfReservedBlock() const;
  void CheckInteger();
  void CheckEscapes();
  void CheckNumber();
  void CheckOpenString();
  void CheckCharacter();

  TokenList tokens_;
  CheckedTokens out_;
  size_t at_ = 0;
  const source::SourceManager& sources_;
  uint32_t file_;
  diag::Emitter& diag_;
};

// `table x { ... }`: everything in there belongs to the reserved word. The
// index behind its closing bracket, or of the word when there is no bracket.
size_t Checker::EndOfReservedBlock() const {
  size_t at = at_ + 1;
  if (TypeAt(at) == Lexer::IDENT) ++at;
  if (TypeAt(at) != Lexer::LBRACE && TypeAt(at) != Lexer::LBRACKET) {
    return at_;
  }
  size_t depth = 0;
  do {
    const size_t type = TypeAt(at);
    if (type == Token::EOF) return at;
    if (type == Lexer::LBRACE || type == Lexer::LBRACKET) ++depth;
    if (type == Lexer::RBRACE || type == Lexer::RBRACKET) --depth;
    ++at;
  } while (depth > 0);
  return at;
}

// A `cost` or `mem` that begins no block.
void Checker::CheckQuantities() {
  Fail(Code::kUnexpectedToken, Span(),
       fmt::format("`{}` begins a block of {}, with no braces inside",
                   Text().str(), Text() == "cost" ? "costs" : "sizes"))
      .Help(Text() == "cost" ? "cost { F = 1.0ms  B = 2.1ms  comm = 0.1ms }"
                             : "mem { act = 1GiB  limit = 70GiB }");
  const size_t end = EndOfReservedBlock();
  if (end == at_) return KeepAs(Lexer::IDENT);
  at_ = end - 1;
  Drop();
}

void Checker::CheckReserved() {
  if (Text() == "cost" || Text() == "mem") return CheckQuantities();
  for (const Reserved& row : kReserved) {
    if (row.word != Text()) continue;
    Fail(Code::kReservedWord, Span(),
         fmt::format("`{}` is reserved for {}, which this version of "
                     "the language does not have",
                     row.word.str(), row.meaning.str()));
    if (row.stands_for != Lexer::IDENT) return KeepAs(row.stands_for);
    const size_t end = EndOfReservedBlock();
    if (end == at_) return KeepAs(Lexer::IDENT);
    at_ = end - 1;
    return Drop();
  }
  Keep();
}

void Checker::CheckInteger() {
  int64_t value = 0;
  if (Text().getAsInteger(10, value)) {
    Fail(Code::kIntegerTooLarge, Span(), "this integer does not fit 64 bits")
        .Help(fmt::format("the largest is {}", INT64_MAX));
  }
  Keep();
}

void Checker::CheckEscapes() {
  const llvm::StringRef text = Text();
  for (size_t at = text.find('\\'); at < text.size();
       at = text.find('\\', at + 2)) {
    if (text[at + 1] == '"' || text[at + 1] == '\\') continue;
    const uint32_t begin = Span().begin + static_cast<uint32_t>(at);
    const llvm::StringRef character = FirstCharacter(text.drop_front(at + 1));
    Fail(Code::kBadEscape,
         source::Span{file_, begin,
                      begin + 1 + static_cast<uint32_t>(character.size())},
         fmt::format("`\\{}` is no escape", character.str()))
        .Help("there are `\\\"` and `\\\\`");
  }
  Keep();
}

void Checker::CheckNumber() {
  const llvm::StringRef text = Text();
  const llvm::StringRef digits =
      text.take_while([](char c) { return c >= '0' && c <= '9'; });
  const llvm::StringRef rest = text.drop_front(digits.size());
  auto error = Fail(Code::kBadNumber, Span(),
                    fmt::format("`{}` is no integer, and all numbers "
                                "of the language are",
                                text.take_front(40).str()));
  if (Here().getType() == Lexer::BAD_NUMBER) {
    error.Help(fmt::format("a product is written `{}*{}`",
                           digits.take_front(20).str(),
                           rest.take_front(20).str()));
  }
  KeepAs(Lexer::INT);
}

void Checker::CheckOpenString() {
  Fail(Code::kUnterminated, Span(),
       "this text is not closed by `\"` on its line");
  KeepAs(Lexer::STRING);
}

void Checker::CheckCharacter() {
  const llvm::StringRef text = Text();
  const llvm::StringRef character = FirstCharacter(text);
  const unsigned code_point = CodePoint(character);
  const std::string shown = code_point < 0x20 || code_point == 0x7f
                                ? ""
                                : fmt::format("`{}` ", character.str());
  auto error =
      Fail(Code::kUnknownCharacter,
           source::Span{file_, Span().begin,
                        Span().begin + static_cast<uint32_t>(character.size())},
           fmt::format("the character {}(U+{:04X}) has no meaning here", shown,
                       code_point));
  const LookAlike* meant = FindLookAlike(character);
  if (meant == nullptr) return Drop();
  error.Help(fmt::format("write `{}`", meant->meant.str()));
  if (meant->stands_for == 0) return Drop();
  KeepAs(meant->stands_for);
}

}  // namespace

CheckedTokens CheckTokens(TokenList tokens,
                          const source::SourceManager& sources, uint32_t file,
                          diag::Emitter& diag) {
  return Checker(std::move(tokens), sources, file, diag).Run();
}

}  // namespace pp::parse
