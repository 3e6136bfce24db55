// The checks of bytecode against the machine that users run: the VM on threads,
// an engine that knows what each operation must read, and a transport held to
// the rules of the strict tier (runtime/transport/emulated). What is accepted
// runs to its end; what hangs by the check is found to hang, and what swaps two
// tensors delivers the wrong one. PP_PROPERTY_SCALE=N tries N times as many.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/check/check.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/launch/run_threads.h"
#include "runtime/transport/emulated/emulated.h"
#include "tests/property/agreement.h"
#include "tests/support/random_programs.h"

namespace pp {
namespace {

using bytecode::Module;
using testing::Random;

launch::RunResult Run(const Module& module) {
  auto factory = engine::synthetic::CreateFactory();
  engine::EngineConfig config;
  config.options = {{"f", "0ms"}, {"b", "0ms"}, {"msg", "16B"}};
  const Status prepared = factory->Prepare(module, config);
  EXPECT_TRUE(prepared.ok()) << prepared.message();
  return launch::RunThreads(module, *factory,
                            transport::emulated::CreateStrict(module.ranks()),
                            {.steps = 2, .timeout = std::chrono::seconds(20)});
}

bool Has(const std::set<Code>& codes, std::initializer_list<Code> any) {
  return std::ranges::any_of(any, [&](Code c) { return codes.contains(c); });
}

struct Seen {
  size_t accepted = 0, hang = 0, wrong = 0;
};

void Compare(const Module& module, Seen& seen) {
  if (!bytecode::Verify(module).ok()) return;
  diag::Emitter diag;
  const bool accepted = check::CheckModule(module, diag);
  const std::set<Code> codes = Codes(diag);
  const bool hangs =
      Has(codes, {Code::kUnmatchedSend, Code::kUnmatchedReceive,
                  Code::kCollectiveNotReached, Code::kDependencyCycle,
                  Code::kCommunicationDeadlock});
  const bool wrong = codes == std::set{Code::kFifoMismatch} ||
                     codes == std::set{Code::kWrongInput};
  // What is missing or scaled twice the machine does not see.
  if (!accepted && !hangs && !wrong) return;
  const launch::RunResult result = Run(module);
  const std::string& said = result.status.message();
  ++(accepted ? seen.accepted : hangs ? seen.hang : seen.wrong);
  ASSERT_EQ(result.status.ok(), accepted)
      << bytecode::Print(module) << Texts(diag) << said;
  if (codes == std::set{Code::kCommunicationDeadlock}) {
    ASSERT_NE(said.find("no rank can move"), std::string::npos) << said;
  }
  if (wrong) {
    ASSERT_NE(said.find("its input is"), std::string::npos) << said;
  }
}

TEST(CheckVsMachine, RandomPrograms) {
  Random random(6);
  Seen seen;
  for (size_t round = 0; round < 200 * Scale(); ++round) {
    const ir::Schedule schedule = testing::RandomSchedule(random);
    const Module module = testing::RandomModule(schedule, random() % 4, random);
    Compare(module, seen);
    for (int n = 0; n < 4; ++n) {
      Module changed = module;
      const auto mutation =
          static_cast<testing::Mutation>(random() % testing::kMutations);
      testing::Mutate(changed, mutation, random);
      Compare(changed, seen);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  std::printf("%zu ran to their end, %zu hung, %zu swapped tensors\n",
              seen.accepted, seen.hang, seen.wrong);
  EXPECT_GT(seen.accepted, 100u);
  EXPECT_GT(seen.hang, 100u);
  EXPECT_GT(seen.wrong, 0u);
}

}  // namespace
}  // namespace pp
