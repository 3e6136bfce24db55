// Words for everything that is wrong with single tokens: foreign characters,
// open texts and comments, numbers that are none, reserved words. Private to
// parse/.
#pragma once

#include <set>

#include "compiler/diag/diagnostic.h"
#include "compiler/parse/tokens.h"

namespace pp::parse {

// Begin offsets of tokens at which the parser keeps quiet: what it would say
// there follows from an error already shown.
using Tainted = std::set<size_t>;

struct CheckedTokens {
  TokenList tokens;
  Tainted tainted;
  bool ok = true;  // nothing was reported
};

// Reports, and puts in the place of each wrong token what was probably meant,
// so that the parser can go on.
CheckedTokens CheckTokens(TokenList tokens,
                          const source::SourceManager& sources, uint32_t file,
                          diag::Emitter& diag);

}  // namespace pp::parse
