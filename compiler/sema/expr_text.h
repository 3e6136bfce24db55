// An expression as text with one spelling for each meaning: to compare the
// left sides of `expect`s. Not for people: messages quote the source.
#pragma once

#include <string>

#include "compiler/ast/nodes.h"

namespace pp::sema {

std::string ExprText(const ast::Expr& expr);

}  // namespace pp::sema
