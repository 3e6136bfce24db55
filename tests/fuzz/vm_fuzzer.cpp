// Any bytes that the verifier accepts run on the machine without a crash: they
// end well, or with a message. A program that hangs or sends the wrong tensor
// is fine as long as it is told.
//
// The synthetic engine takes no time, the transport is in-process, waits are
// cut short. Only small modules are run: large ones tell nothing new.
#include <algorithm>
#include <cstdint>
#include <span>
#include <thread>

#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/verifier.h"
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
  const auto module =
      pp::bytecode::Read(std::as_bytes(std::span(data, size)));
  if (module && pp::IsSmall(*module) && pp::bytecode::Verify(*module).ok()) {
    pp::RunModule(*module);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned) {
  const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  pp::bytecode::Reseal(std::as_writable_bytes(std::span(data, mutated)));
  return mutated;
}
