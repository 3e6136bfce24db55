// Parse: runs ANTLR over a text and turns its tree into ours. Exceptions of the
// ANTLR runtime end here; its error strategy (error_strategy.cpp) throws them
// to unwind, and no rule lets one out.
#include "SchedParser.h"
#include "compiler/parse/ast_builder.h"
#include "compiler/parse/byte_stream.h"
#include "compiler/parse/error_strategy.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/token_check.h"
#include "compiler/parse/tokens.h"
#include "fmt/format.h"
#include "llvm/Support/ConvertUTF.h"

namespace pp::parse {
namespace {

// The first byte that is no part of a UTF-8 character, or is NUL; the size
// when there is none.
size_t FindNonText(llvm::StringRef text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    const auto* bytes = reinterpret_cast<const llvm::UTF8*>(text.data()) + at;
    const size_t length = llvm::getNumBytesForUTF8(*bytes);
    if (length > text.size() - at ||
        !llvm::isLegalUTF8Sequence(bytes, bytes + length)) {
      break;
    }
    at += length;
  }
  return at;
}

bool CheckIsText(llvm::StringRef text, uint32_t file, diag::Emitter& diag) {
  const size_t at = FindNonText(text);
  if (at == text.size()) return true;
  const auto begin = static_cast<uint32_t>(at);
  diag.Emit(diag::Code::kNotUtf8, source::Span{file, begin, begin + 1},
            fmt::format("the byte 0x{:02X} is no part of UTF-8 text",
                        static_cast<unsigned char>(text[at])));
  return false;
}

std::optional<ast::File> ParseTokens(CheckedTokens checked,
                                     const source::SourceManager& sources,
                                     uint32_t file, diag::Emitter& diag) {
  antlr4::ListTokenSource source(std::move(checked.tokens));
  antlr4::CommonTokenStream stream(&source);
  grammar::SchedParser parser(&stream);
  parser.removeErrorListeners();
  const auto strategy =
      std::make_shared<ErrorStrategy>(sources, file, checked.tainted, diag);
  parser.setErrorHandler(strategy);
  // Every choice of the grammar is made by one token.
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
      antlr4::atn::PredictionMode::SLL);
  grammar::SchedParser::FileContext* tree = parser.file();
  // Not asked of the emitter: it counts an error that it has seen before, as
  // when a file is read twice, no second time.
  if (strategy->failed() || !checked.ok) return std::nullopt;
  AstBuilder builder(sources, file, diag);
  ast::File built = builder.BuildFile(tree);
  if (builder.failed()) return std::nullopt;
  return built;
}

}  // namespace

std::optional<ast::File> Parse(const source::SourceManager& sources,
                               uint32_t file, diag::Emitter& diag) {
  const llvm::StringRef text = sources.Text(file);
  if (!CheckIsText(text, file, diag)) return std::nullopt;
  ByteStream bytes(text);
  std::optional<TokenList> tokens = ReadTokens(bytes, file, diag);
  if (!tokens) return std::nullopt;
  return ParseTokens(CheckTokens(std::move(*tokens), sources, file, diag),
                     sources, file, diag);
}

}  // namespace pp::parse
