#include "runtime/trace/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/bytecode/instr.h"

namespace pp::trace {
namespace {

namespace op = bytecode::op;

// Two ranks, one stage each, one micro-batch: F0 F1 B1 B0.
bytecode::Module TwoStages() {
  bytecode::Module module;
  module.micro_batches = 1;
  module.stages = 2;
  module.facts.schedule = "pair";
  for (uint32_t r = 0; r < 2; ++r) {
    bytecode::RankProgram& program = module.programs.emplace_back();
    program.chunks = {{StageId{r}}};
    program.code = {op::Forward{}.Pack(), op::Backward{}.Pack()};
  }
  return module;
}

RankTrace Steps(int64_t f, int64_t f_ns, int64_t b, int64_t b_ns) {
  RankTrace trace;
  for (uint32_t step = 0; step < 3; ++step) {
    const int64_t at = step * 1'000'000;
    const int64_t late = step == 0 ? 500 : 0;  // warms up
    trace.push_back(
        {EventKind::kCompute, step, 0, 0, at + f, at + f + f_ns + late});
    trace.push_back({EventKind::kCompute, step, 1, 0, at + b + late,
                     at + b + b_ns + 2 * late});
  }
  return trace;
}

TEST(Summarize, IsTheMeanOfTheMiddleHalf) {
  const Measured one = Summarize({1000, 10, 12, 14, 16, 1, 11, 13});
  EXPECT_EQ(one.ns, 12);  // of 11 12 13 14
  EXPECT_EQ(one.samples, 8u);
  EXPECT_NEAR(one.spread, 3. / 13, 1e-9);
  EXPECT_EQ(Summarize({}).ns, 0);
}

TEST(MeasureCosts, TakesOperationsAndTheHopsThatWereWaitedFor) {
  const bytecode::Module module = TwoStages();
  const std::vector<RankTrace> traces = {Steps(0, 100, 420, 210),
                                         Steps(105, 110, 215, 200)};
  const Profile profile = MeasureCosts(module, traces);
  EXPECT_EQ(profile.steps, 2u);  // without the first
  EXPECT_EQ(MeasureCosts(module, traces, 0).steps, 3u);
  EXPECT_EQ(MeasureCosts(module, traces, 9).steps, 1u);
  EXPECT_EQ(profile.ops.at({'F', 0}).ns, 100);
  EXPECT_EQ(profile.ops.at({'F', 1}).ns, 110);
  EXPECT_EQ(profile.ops.at({'B', 1}).ns, 200);
  EXPECT_EQ(profile.hops.at({0, 1}).ns, 5);
  EXPECT_EQ(profile.hops.at({1, 0}).ns, 5);
  EXPECT_EQ(profile.makespan.ns, 630);
}

TEST(MeasureCosts, AResultThatCameWhileTheRankWasBusyIsNoHop) {
  const bytecode::Module module = TwoStages();
  // Rank 0 is free at 500, long after rank 1's B has ended at 415.
  const std::vector<RankTrace> traces = {Steps(0, 500, 510, 210),
                                         Steps(105, 110, 215, 200)};
  EXPECT_EQ(MeasureCosts(module, traces).hops.count({1, 0}), 0u);
}

TEST(ProfileJson, IsACostsFile) {
  const bytecode::Module module = TwoStages();
  const std::vector<RankTrace> traces = {Steps(0, 100, 420, 210),
                                         Steps(105, 110, 215, 200)};
  const auto json = nlohmann::json::parse(ProfileJson(
      module, MeasureCosts(module, traces), {{"model", "synthetic"}}));
  EXPECT_EQ(json["cost"]["F"], "0.000105ms");
  EXPECT_EQ(json["cost"]["F.1"], "0.00011ms");
  EXPECT_EQ(json["cost"]["comm.0.1"], "0.000005ms");
  EXPECT_EQ(json["cost"].count("I"), 0u);
  EXPECT_EQ(json["from"]["model"], "synthetic");
  EXPECT_EQ(json["from"]["schedule"], "pair");
  EXPECT_EQ(json["from"]["steps"], 2);
}

}  // namespace
}  // namespace pp::trace
