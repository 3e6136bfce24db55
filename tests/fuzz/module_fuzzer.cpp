// Any bytes: a module or a clear error, and what is read can be checked,
// printed, dumped and written back to the same bytes.
//
// Checksums would stop nearly every changed file at the door, so the mutator
// makes them right again most of the time.
#include <algorithm>
#include <cstdint>
#include <sstream>

#include "runtime/bytecode/dump.h"
#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"
#include "tests/fuzz/check.h"
#include "tests/unit/bytecode/reseal.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pp::bytecode {
namespace {

void CheckDumps(const Module& module) {
  std::ostringstream out;
  PP_FUZZ_CHECK(Dump(module, {}, out).ok());
  PP_FUZZ_CHECK(Dump(module, {.hex = true}, out).ok());
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    const auto code = module.programs[rank].code.size();
    for (uint32_t pc = 0; pc < code; ++pc) {
      const Instr& instr = module.programs[rank].code[pc];
      PP_FUZZ_CHECK(!PrintInstr(instr).empty());
      PP_FUZZ_CHECK(!EventName(module.programs[rank], instr).empty());
      PrintSite(module, Rank{rank}, Pc{pc});
    }
  }
}

void CheckModule(std::span<const std::byte> bytes, const Module& module) {
  const auto written = Write(module);
  PP_FUZZ_CHECK(written.has_value());
  PP_FUZZ_CHECK(std::ranges::equal(*written, bytes));
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    const auto program = ReadRank(bytes, Rank{rank});
    PP_FUZZ_CHECK(program && *program == module.programs[rank]);
  }
  const std::string text = Print(module);
  const auto parsed = Parse(text, "print.ppasm");
  const Status verified = Verify(module);
  PP_FUZZ_CHECK(verified.ok() || !verified.message().empty());
  if (verified.ok()) PP_FUZZ_CHECK(parsed && *parsed == module);
  CheckDumps(module);
}

}  // namespace
}  // namespace pp::bytecode

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto module = pp::bytecode::Read(bytes);
  if (module) {
    pp::bytecode::CheckModule(bytes, *module);
  } else {
    PP_FUZZ_CHECK(!module.error().message().empty());
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned seed) {
  const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 16 != 0) {
    pp::bytecode::Reseal(std::as_writable_bytes(std::span(data, mutated)));
  }
  return mutated;
}
