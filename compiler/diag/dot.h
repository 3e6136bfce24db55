// The circle of a diagnostic as a picture, in the language of Graphviz.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"

namespace pp::diag {

// A box for each place that waits, those of a rank in one frame; an arrow from
// each to what it waits for, with the reason. Empty where the diagnostic has no
// circle.
std::string CircleDot(const Diagnostic& diagnostic,
                      const source::SourceManager& sources);

}  // namespace pp::diag
