#include "compiler/diag/explain.h"

#include "compiler/diag/renderer.h"
#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace pp::diag {

// No default: a code without a row in explain.def does not compile.
std::string_view Explanation(Code code) {
  llvm::StringRef text;
  switch (code) {
#define PP_EXPLAIN(Name, words) \
  case Code::k##Name:           \
    text = words;               \
    break;
#include "compiler/diag/explain.def"
  }
  return text.trim('\n');
}

std::string Explain(Code code) {
  const CodeInfo& info = Info(code);
  return fmt::format("{} ({}): {}\n\n{}\n", info.id,
                     SeverityName(info.severity), info.summary,
                     Explanation(code));
}

}  // namespace pp::diag
