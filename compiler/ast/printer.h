// The syntax tree as text, for `ppc --emit=ast` and for tests.
//
// The text is a `.sched` file again: two blanks a level, every expression with
// all its parentheses, no comments. Parsing it gives the same tree, so that
// printing is stable: Print(Parse(Print(f))) == Print(f).
#pragma once

#include <string>

#include "compiler/ast/nodes.h"

namespace pp::ast {

std::string Print(const File& file);
std::string Print(const Expr& expr);
std::string Print(const Stmt& stmt);

std::string_view Spelling(UnaryOp op);   // "-"
std::string_view Spelling(BinaryOp op);  // "%"
std::string_view Spelling(OpLetter op);  // "F"

}  // namespace pp::ast
