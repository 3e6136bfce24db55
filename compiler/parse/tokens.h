// Text -> tokens, with the limits that keep everything behind them safe.
// Private to parse/.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "antlr4-runtime.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source_manager.h"

namespace pp::parse {

// The parser, the builder and every phase that walks the tree recurse: their
// depth is bounded by that of brackets, operators and `else if` together.
inline constexpr size_t kMaxDepth = 256;
// About 1 GiB of parse tree.
inline constexpr size_t kMaxTokens = 1'000'000;

using Token = antlr4::Token;
using TokenList = std::vector<std::unique_ptr<Token>>;

source::Span SpanOf(uint32_t file, const Token& token);
llvm::StringRef TextOf(const source::SourceManager& sources, uint32_t file,
                       const Token& token);

// All tokens with the end of the file as the last; nullopt, with an error, when
// a limit is passed. The tokens refer to `stream`.
std::optional<TokenList> ReadTokens(antlr4::CharStream& stream, uint32_t file,
                                    diag::Emitter& diag);

}  // namespace pp::parse
