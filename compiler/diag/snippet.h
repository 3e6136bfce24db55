// The source line with carets under a span. Private to diag/.
#pragma once

#include <string>

#include "compiler/source/source_manager.h"

namespace pp::diag {

// Two lines, each with its end; empty when the span has no place. A span over
// several lines is marked to the end of its first.
std::string Snippet(source::Span span, const source::SourceManager& sources,
                    bool colour);

}  // namespace pp::diag
