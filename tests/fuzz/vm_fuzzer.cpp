// Any bytes that the verifier accepts run on the machine without a crash: they
// end well, or with a message. A program that hangs or sends the wrong tensor
// is fine as long as it is told.
//
// The synthetic engine takes no time, the transport is in-process, waits are
// cut short. Only small modules are run: large ones tell nothing new.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"
#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/launch/run_threads.h"
#include "runtime/trace/chrome_writer.h"
#include "runtime/transport/inproc/inproc.h"
#include "tests/fuzz/check.h"
#include "tests/unit/bytecode/reseal.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pp {
namespace {

using bytecode::Module;

bool IsSmall(const Module& module) {
  return module.ranks() <= 4 && module.micro_batches <= 64 &&
         std::ranges::all_of(module.programs, [](const auto& program) {
           return program.code.size() <= 200 && program.stashes <= 1000;
         });
}

// Moves a stretch of one rank's program, cuts it out, or changes an operand.
void ChangeInstructions(std::minstd_rand& random, Module* module) {
  const auto below = [&](size_t bound) { return random() % bound; };
  if (module->programs.empty()) return;
  bytecode::RankProgram& program =
      module->programs[below(module->programs.size())];
  program.debug.clear();
  auto& code = program.code;
  if (code.size() < 2) return;
  const auto first =
      code.begin() + static_cast<std::ptrdiff_t>(below(code.size() - 1));
  const auto last = first + 1 +
                    static_cast<std::ptrdiff_t>(below(std::min<size_t>(
                        3, static_cast<size_t>(code.end() - first))));
  switch (below(3)) {
    case 0: {
      const auto target =
          code.begin() + static_cast<std::ptrdiff_t>(below(code.size()));
      if (target >= last) std::rotate(first, last, target);
      if (target < first) std::rotate(target, first, last);
      return;
    }
    case 1:
      code.erase(first, last);
      return;
    default: {
      const size_t count = Info(first->op).operand_count;
      if (count > 0) first->operand[below(count)] = below(4);
      return;
    }
  }
}

void RunModule(const Module& module) {
  const auto factory = engine::synthetic::CreateFactory();
  engine::EngineConfig config;
  config.options = {{"f", "0"}, {"i", "0"}, {"w", "0"}};
  PP_FUZZ_CHECK(factory->Prepare(module, config).ok());
  launch::RunOptions options;
  options.steps = 2;
  options.timeout = std::chrono::milliseconds(20);
  options.trace = true;
  const launch::RunResult result = launch::RunThreads(
      module, *factory, transport::inproc::Create(module.ranks()), options);
  PP_FUZZ_CHECK(!result.abandoned);
  PP_FUZZ_CHECK(result.status.ok() || !result.status.message().empty());
  PP_FUZZ_CHECK(!result.status.ok() || result.steps.size() == options.steps);
  PP_FUZZ_CHECK(!trace::ChromeTrace(module, result.traces).empty());
}

}  // namespace
}  // namespace pp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = pp::bytecode::Read(std::as_bytes(std::span(data, size)));
  if (module && pp::IsSmall(*module) && pp::bytecode::Verify(*module).ok()) {
    pp::RunModule(*module);
  }
  return 0;
}

// Changed bytes seldom pass the verifier; changed instructions often do, and
// then hang, swap tensors or leave a message unsent.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned seed) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (auto module = pp::bytecode::Read(bytes); module && seed % 4 != 0) {
    std::minstd_rand random(seed);
    pp::ChangeInstructions(random, &*module);
    const auto written = pp::bytecode::Write(*module);
    if (written && written->size() <= max_size) {
      std::memcpy(data, written->data(), written->size());
      return written->size();
    }
  }
  const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  pp::bytecode::Reseal(std::as_writable_bytes(std::span(data, mutated)));
  return mutated;
}
