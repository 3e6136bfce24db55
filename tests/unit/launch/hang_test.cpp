#include "runtime/launch/hang.h"

#include <gtest/gtest.h>

#include "tests/support/programs.h"

namespace pp::launch {
namespace {

using bytecode::Opcode;
namespace op = bytecode::op;

// The n-th instruction of this opcode, from 0.
uint32_t PcOf(const bytecode::Module& module, uint32_t rank, Opcode opcode,
              int n = 0) {
  const auto& code = module.programs[rank].code;
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].op == opcode && n-- == 0) return pc;
  }
  ADD_FAILURE() << "no such instruction";
  return 0;
}

RankPlace Running(uint32_t pc, double seconds = 2) {
  return {RankState::kRunning, 0, pc, seconds};
}
RankPlace Idle() { return {RankState::kIdle, 0, 0, 0}; }

TEST(Hang, APlaceSaysInstructionLineAndWhatItWaitsFor) {
  const auto module = test::GPipe(2, 1);
  EXPECT_EQ(DescribePlace(module, Rank(1), Running(1)),
            "rank 1: step 0, pc 1 `wait %0` at test.sched:11:5 steady[0], for "
            "2.0 s: waits for act s0 m0 from rank 0 on lane 0");
  EXPECT_EQ(DescribePlace(module, Rank(0), Idle()),
            "rank 0: step 0, has ended its program");
  EXPECT_EQ(DescribePlace(module, Rank(0), {}), "rank 0: is starting");
}

TEST(Hang, APeerThatEndedWithoutSendingIsNamed) {
  const auto module = test::LostMessage(2, 1);
  const std::vector<RankPlace> places = {Idle(), Running(1)};
  EXPECT_EQ(ExplainHang(module, places),
            "rank 1 waits for act s0 m0 from rank 0 on lane 0, but rank 0 has "
            "ended its program, which never sends it");
}

TEST(Hang, TheChainIsFollowedToItsCause) {
  // Rank 0 waits for a gradient of rank 1, rank 1 of rank 2, which computes.
  const auto module = test::GPipe(3, 1);
  const uint32_t forward = PcOf(module, 2, Opcode::kForward);
  const std::vector<RankPlace> places = {
      Running(PcOf(module, 0, Opcode::kWait, 0)),
      Running(PcOf(module, 1, Opcode::kWait, 1)), Running(forward, 7)};
  EXPECT_EQ(ExplainHang(module, places),
            "rank 2 has been in pc 2 `forward c0 m0 %0 -> - $0` at "
            "test.sched:12:5 steady[0] for 7.0 s");
}

TEST(Hang, ACircleIsNamedWithEachHop) {
  auto module = test::GPipe(2, 1);
  // Both ranks receive first: rank 0 its gradient, rank 1 its activation.
  const std::vector<RankPlace> places = {
      Running(PcOf(module, 0, Opcode::kWait, 0)),
      Running(PcOf(module, 1, Opcode::kWait, 0))};
  EXPECT_EQ(ExplainHang(module, places),
            "ranks 0, 1 wait for each other: rank 0 waits for grad s1 m0 from "
            "rank 1 on lane 1; rank 1 waits for act s0 m0 from rank 0 on lane "
            "0");
}

TEST(Hang, ASumWaitsForTheRankThatHasNotCome) {
  auto module = test::GPipe(3, 1);
  module.groups.push_back({bytecode::GroupKind::kReplicas,
                           StageId(0),
                           {Rank(0), Rank(1), Rank(2)}});
  std::vector<RankPlace> places;
  for (uint32_t r = 0; r < 3; ++r) {
    auto& program = module.programs[r];
    program.debug.clear();
    program.code.push_back(op::Reduce{GroupId(0)}.Pack());
    places.push_back(Running(static_cast<uint32_t>(program.code.size() - 1)));
  }
  places[1] = Idle();
  EXPECT_EQ(ExplainHang(module, places),
            "rank 0 waits for the sum of group 0, but rank 1 has ended its "
            "program");
}

}  // namespace
}  // namespace pp::launch
