// Diagnostics as a person or a program reads them. Pure functions: the caller
// decides where the text goes and whether it is coloured.
//
//   zb_bad.sched:14:5: error: ranks 0 and 1 wait for each other [PP4003]
//      14 |     repeat M { B }
//         |                ^
//   zb_bad.sched:21:5: note: rank 1 waits for the gradient of rank 2
//   help: ...
//
// Columns count bytes from 1, carets stand under what a terminal shows. Bytes
// that a terminal would act on are shown as `?`, long lines around the caret.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"

namespace pp::diag {

std::string Render(const Diagnostic& diagnostic,
                   const source::SourceManager& sources, bool colour);

// All, in the order of Emitter::Sorted, each code's last followed by how many
// more like it there were.
std::string Render(const Emitter& emitter, const source::SourceManager& sources,
                   bool colour);

// One array: [{"code", "severity", "message", "file", "line", "column",
// "notes": [{"message", "file", "line", "column"}], "help"}]. Without a place,
// file, line and column are null; without a hint, help is null. The last of a
// code of which more were counted has "more": N.
std::string RenderJson(const Emitter& emitter,
                       const source::SourceManager& sources);

// "error", "warning", "note".
std::string_view SeverityName(Severity severity);

// Where a location is, as shown: an empty file means nowhere, line 0 means
// that only the file is known.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};
Place Resolve(const Location& where, const source::SourceManager& sources);

}  // namespace pp::diag
