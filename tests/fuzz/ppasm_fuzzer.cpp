// Any text: a module or an error with its place; what is read prints as text
// that reads back the same, and what verifies goes through a file unchanged.
#include <cstdint>
#include <string_view>

#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"
#include "tests/fuzz/check.h"

namespace pp::bytecode {
namespace {

// A NaN is not equal to itself; the verifier refuses it.
bool Comparable(const Facts& facts) { return facts == facts; }

void CheckModule(const Module& module) {
  if (Comparable(module.facts)) {
    const auto again = Parse(Print(module), "print.ppasm");
    PP_FUZZ_CHECK(again && *again == module);
  }
  if (!Verify(module).ok()) return;
  const auto bytes = Write(module);
  PP_FUZZ_CHECK(bytes.has_value());
  const auto read = Read(*bytes);
  PP_FUZZ_CHECK(read && *read == module);
}

}  // namespace
}  // namespace pp::bytecode

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = pp::bytecode::Parse(text, "fuzz.ppasm");
  if (module) {
    pp::bytecode::CheckModule(*module);
  } else {
    PP_FUZZ_CHECK(module.error().message().starts_with("fuzz.ppasm:"));
  }
  return 0;
}
