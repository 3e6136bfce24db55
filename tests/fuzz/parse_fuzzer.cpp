// Any bytes through the parser: a tree or errors with a place, and a tree
// whose printed text parses to itself.
#include <cstdint>
#include <string>

#include "compiler/ast/printer.h"
#include "compiler/diag/renderer.h"
#include "compiler/parse/parse.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pp::source::SourceManager sources;
  pp::diag::Emitter diag;
  const uint32_t file = sources.AddText(
      "fuzz.sched", std::string(reinterpret_cast<const char*>(data), size));
  const auto tree = pp::parse::Parse(sources, file, diag);
  PP_FUZZ_CHECK(tree.has_value() != diag.has_errors());
  (void)pp::diag::Render(diag, sources, /*colour=*/true);
  (void)pp::diag::RenderJson(diag, sources);
  if (!tree) return 0;

  // Printing adds parentheses, so that a tree at the limit of depth may print
  // to a text beyond it.
  const std::string printed = pp::ast::Print(*tree);
  const uint32_t again = sources.AddText("printed.sched", printed);
  const auto second = pp::parse::Parse(sources, again, diag);
  if (!second) {
    for (const auto& d : diag.all()) {
      PP_FUZZ_CHECK(d.code == pp::diag::Code::kNestedTooDeep);
    }
    return 0;
  }
  PP_FUZZ_CHECK(pp::ast::Print(*second) == printed);
  return 0;
}
