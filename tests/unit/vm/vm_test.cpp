#include "runtime/vm/vm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runtime/bytecode/verifier.h"
#include "runtime/engine/synthetic/synthetic.h"
#include "runtime/transport/inproc/inproc.h"
#include "tests/support/faulty_engine.h"
#include "tests/support/programs.h"

namespace pp::vm {
namespace {

using bytecode::Module;
using bytecode::Opcode;
namespace op = bytecode::op;

std::unique_ptr<engine::EngineFactory> FastSynthetic(const Module& module) {
  auto factory = engine::synthetic::CreateFactory();
  engine::EngineConfig config;
  config.options = {{"f", "0"}, {"i", "0"}, {"w", "0"}};
  EXPECT_TRUE(factory->Prepare(module, config).ok());
  return factory;
}

struct Outcome {
  std::vector<Result<StepResult>> results;
  std::vector<trace::RankTrace> traces;
};

// One step of all ranks, a thread each.
Outcome RunAll(const Module& module, engine::EngineFactory& factory,
               std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  const Status verified = bytecode::Verify(module);
  EXPECT_TRUE(verified.ok()) << verified.message();
  auto ends = transport::inproc::Create(module.ranks());
  Outcome outcome;
  outcome.results.resize(module.ranks());
  outcome.traces.resize(module.ranks());
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    threads.emplace_back([&, r] {
      auto engine = factory.Create(Rank(r));
      Vm vm(module, Rank(r), **engine, *ends[r],
            {.timeout = timeout, .trace = &outcome.traces[r]});
      outcome.results[r] = vm.RunStep(5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

TEST(Vm, RunsSchedulesWithTheRightData) {
  const Module modules[] = {test::GPipe(4, 6), test::OneFOneB(4, 6),
                            test::OneFOneB(4, 2), test::SplitGPipe(3, 5),
                            test::OneFOneB(1, 3)};
  for (const Module& module : modules) {
    const auto factory = FastSynthetic(module);
    const Outcome outcome = RunAll(module, *factory);
    for (uint32_t r = 0; r < module.ranks(); ++r) {
      ASSERT_TRUE(outcome.results[r]) << outcome.results[r].error().message();
      EXPECT_EQ(outcome.results[r]->instructions,
                module.programs[r].code.size());
      EXPECT_EQ(outcome.results[r]->peak_activations,
                module.facts.peak_activations[r]);
    }
  }
}

TEST(Vm, RecordsOneEventPerComputeWaitTransferAndMeta) {
  const Module module = test::GPipe(2, 3);
  const auto factory = FastSynthetic(module);
  const Outcome outcome = RunAll(module, *factory);
  ASSERT_TRUE(outcome.results[0]);
  std::array<int, 4> counts{};
  int64_t busy = 0;
  for (const trace::Event& event : outcome.traces[0]) {
    ++counts[static_cast<size_t>(event.kind)];
    EXPECT_EQ(event.step, 5u);
    EXPECT_LE(event.begin_ns, event.end_ns);
    if (event.kind == trace::EventKind::kCompute) {
      busy += event.end_ns - event.begin_ns;
    }
  }
  EXPECT_EQ(counts, (std::array<int, 4>{6, 6, 6, 2}));
  EXPECT_EQ(busy, outcome.results[0]->busy_ns);
}

TEST(Vm, AFailureNamesRankInstructionLineAndCause) {
  const Module module = test::GPipe(3, 2);
  test::HookFactory factory(
      [](Rank rank, char operation, const engine::Work& work) {
        const bool here =
            rank == Rank(1) && operation == 'B' && work.mb == MicroBatch(1);
        return here ? RankError("out of paper") : OkStatus();
      });
  const Outcome outcome = RunAll(module, factory);
  ASSERT_FALSE(outcome.results[1]);
  const Status& own = outcome.results[1].error();
  EXPECT_EQ(own.code(), StatusCode::kRankFailed);
  EXPECT_NE(own.message().find("rank 1, step 5, pc "), std::string::npos);
  EXPECT_NE(own.message().find("`backward c0 m1 "), std::string::npos);
  EXPECT_NE(own.message().find("at test.sched:11:5 steady[3]: out of paper"),
            std::string::npos)
      << own.message();
  // Rank 0 waits for that gradient: it ends with the first cause.
  ASSERT_FALSE(outcome.results[0]);
  EXPECT_EQ(outcome.results[0].error().code(), StatusCode::kAborted);
  EXPECT_NE(outcome.results[0].error().message().find("out of paper"),
            std::string::npos);
}

TEST(Vm, AMessageThatNeverComesMeetsTheTimeout) {
  Module module = test::GPipe(2, 1);
  // Rank 0 does not send: drop SEND and its WAIT.
  bytecode::RankProgram& program = module.programs[0];
  std::erase_if(program.code, [&](const bytecode::Instr& in) {
    return in.op == Opcode::kSend ||
           (in.op == Opcode::kWait && op::Wait::Of(in).slot == SlotId(0));
  });
  program.debug.clear();
  const auto factory = FastSynthetic(module);
  const Outcome outcome =
      RunAll(module, *factory, std::chrono::milliseconds(50));
  // Both wait for each other here; one of them is first.
  bool named = false;
  for (const auto& result : outcome.results) {
    ASSERT_FALSE(result);
    named |= result.error().message().find("waited 0.1 s for `recv ") !=
             std::string::npos;
  }
  EXPECT_TRUE(named);
}

// Two backwards run before either gradient is sent: each message still carries
// the gradient of its own micro-batch (pytorch/pytorch #139404).
TEST(Vm, GradientsOfSeveralMicroBatchesAreKeptApart) {
  Module swapped = test::BuildModule(2, 2, [](uint32_t) {
    return std::vector<test::Op>{{'F', 0}, {'F', 1}, {'B', 1}, {'B', 0}};
  });
  auto& code = swapped.programs[1].code;
  std::vector<SlotId> sent;
  for (const bytecode::Instr& in : code) {
    if (in.op == Opcode::kSend) sent.push_back(op::Send::Of(in).slot);
  }
  const auto is_late = [&](const bytecode::Instr& in) {
    const SlotId slot = in.op == Opcode::kWait   ? op::Wait::Of(in).slot
                        : in.op == Opcode::kFree ? op::Free::Of(in).slot
                                                 : bytecode::kNoSlot;
    return in.op == Opcode::kSend ||
           std::find(sent.begin(), sent.end(), slot) != sent.end();
  };
  // Rank 1: both backwards first, then both sends.
  std::stable_partition(code.begin(), code.end() - 2,
                        [&](const auto& in) { return !is_late(in); });
  const auto factory = FastSynthetic(swapped);
  const Outcome outcome = RunAll(swapped, *factory);
  for (const auto& result : outcome.results) {
    EXPECT_TRUE(result) << result.error().message();
  }
}

TEST(Vm, AWrongTensorIsAnError) {
  // Rank 1 computes micro-batch 0 from the slot that holds micro-batch 1.
  Module module = test::GPipe(2, 2);
  for (bytecode::Instr& instr : module.programs[1].code) {
    if (instr.op != Opcode::kForward) continue;
    auto forward = op::Forward::Of(instr);
    if (forward.mb == MicroBatch(1)) {
      forward.mb = MicroBatch(0);
    }
    instr = forward.Pack();
  }
  auto& code = module.programs[1].code;
  // Keep the program verifiable: the second backward follows suit.
  for (bytecode::Instr& instr : code) {
    if (instr.op != Opcode::kBackward) continue;
    auto backward = op::Backward::Of(instr);
    backward.mb = MicroBatch(0);
    instr = backward.Pack();
  }
  const auto factory = FastSynthetic(module);
  const Outcome outcome = RunAll(module, *factory);
  ASSERT_FALSE(outcome.results[1]);
  EXPECT_NE(outcome.results[1].error().message().find(
                "needs `act s0 m0` of step 5, its input is `act s0 m1`"),
            std::string::npos)
      << outcome.results[1].error().message();
}

}  // namespace
}  // namespace pp::vm
