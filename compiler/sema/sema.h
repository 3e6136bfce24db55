// Names, types and inheritance: files -> one schedule ready to expand.
//
// Imports are loaded (relative to the importing file, each once, cycles are
// errors), `extends` is flattened (a named let or phase, `place`, `walk` of
// the same letter, the set of rank blocks, and an `expect` on the same left
// side replace the parent's; `require`s add up), names are resolved.
// No point (P, M) is known yet: what depends on values is expand's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"

namespace pp::sema {

struct Program;  // private to sema/ and expand/: sema/program.h

// The inside of a `cost { }` or `mem { }` block, for ir/cost_text.
struct Quantities {
  std::string text;
  source::Span span;
};

// One schedule with everything it needs, shared and read-only, so that many
// points can be expanded at once.
struct CheckedSchedule {
  std::string name;
  std::vector<std::string> params;  // P, M, then the others, in order
  std::vector<bool> has_default;    // by parameter
  std::optional<Quantities> costs, memory;
  std::shared_ptr<const Program> program;
};

// All schedules of the file (not of its imports). Empty with errors in diag
// when any does not check.
std::vector<CheckedSchedule> Check(source::SourceManager& sources,
                                   const ast::File& file, diag::Emitter& diag);

}  // namespace pp::sema
