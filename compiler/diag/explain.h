// The long text of a diagnostic, for `ppc explain CODE`: what the rule is, why
// it is there, an example, what to do. The texts are the rows of explain.def.
#pragma once

#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"

namespace pp::diag {

// The row's text, without a heading.
std::string_view Explanation(Code code);

// What `ppc explain` prints: "PP4003 (error): summary", a blank line, the text.
std::string Explain(Code code);

}  // namespace pp::diag
