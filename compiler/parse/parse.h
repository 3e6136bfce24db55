// Text -> syntax tree. The only public header of the ANTLR front end; no
// ANTLR type and no exception leaves this folder.
#pragma once

#include <optional>

#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source_manager.h"

namespace pp::parse {

// nullopt when there is no tree to go on with; errors are in `diag` then.
// Several independent syntax errors are reported in one run. Any bytes give
// a tree or errors: not UTF-8, nesting beyond a limit and integers that do
// not fit 64 bits are errors with a place.
std::optional<ast::File> Parse(const source::SourceManager& sources,
                               uint32_t file, diag::Emitter& diag);

}  // namespace pp::parse
