#include "compiler/emit/emit.h"

#include <gtest/gtest.h>

#include "compiler/analysis/simulate.h"
#include "tests/support/op_lists.h"

namespace pp::emit {
namespace {

bytecode::Facts FactsOf(const ir::Schedule& schedule,
                        const source::SourceManager& sources,
                        const ir::CostModel& costs = {}) {
  bytecode::Module module;
  FillFacts(module, schedule, analysis::Simulate(schedule, costs), costs,
            sources);
  return module.facts;
}

TEST(FillFacts, SaysWhatTheCompilerKnows) {
  source::SourceManager sources;
  ir::Schedule schedule = testing::OneFOneB(4, 8);
  schedule.name_span.file = sources.AddText("dir/x.sched", "abc");
  ir::CostModel costs;
  costs.comm = ir::kTicksPerUnit / 2;
  const bytecode::Facts facts = FactsOf(schedule, sources, costs);
  EXPECT_EQ(facts.schedule, schedule.name);
  EXPECT_EQ(facts.params, schedule.params);
  EXPECT_EQ(facts.source_file, "dir/x.sched");
  EXPECT_EQ(facts.placement, schedule.placement.text);
  EXPECT_EQ(facts.costs, ir::Print(costs));
  EXPECT_EQ(facts.tier, "strict");
  EXPECT_EQ(facts.compiler.substr(0, 4), "ppc ");
  EXPECT_EQ(facts.peak_activations, (std::vector<uint32_t>{4, 3, 2, 1}));
}

TEST(FillFacts, TimesAreInUnitsOfTheCostModel) {
  const source::SourceManager sources;
  const bytecode::Facts facts = FactsOf(testing::GPipe(4, 8), sources);
  EXPECT_EQ(facts.makespan, (8 + 4 - 1) * 3.0);
  EXPECT_DOUBLE_EQ(facts.bubble_fraction, 3.0 / 11);
  EXPECT_DOUBLE_EQ(facts.bubble_overhead, 3.0 / 8);
}

// The vector of FIPS 180-2, as `sha256sum` prints it.
TEST(FillFacts, HashOfOneFileIsItsSha256) {
  source::SourceManager sources;
  ir::Schedule schedule = testing::GPipe(2, 2);
  schedule.name_span.file = sources.AddText("x.sched", "abc");
  EXPECT_EQ(FactsOf(schedule, sources).source_hash,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FillFacts, HashCoversEveryFileWithOperations) {
  source::SourceManager sources;
  ir::Schedule schedule = testing::GPipe(2, 2);
  schedule.name_span.file = sources.AddText("x.sched", "abc");
  const std::string alone = FactsOf(schedule, sources).source_hash;
  schedule.sites[0].span.file = sources.AddText("y.sched", "def");
  const std::string both = FactsOf(schedule, sources).source_hash;
  schedule.sites[0].span.file = sources.AddText("y.sched", "deg");
  const std::string other = FactsOf(schedule, sources).source_hash;
  EXPECT_EQ(both.size(), 64u);
  EXPECT_NE(both, alone);
  EXPECT_NE(both, other);
}

TEST(FillFacts, CostHashFollowsTheCosts) {
  const source::SourceManager sources;
  const ir::Schedule schedule = testing::GPipe(2, 2);
  ir::CostModel costs;
  const std::string before = FactsOf(schedule, sources, costs).cost_hash;
  costs.comm = 1;
  EXPECT_NE(FactsOf(schedule, sources, costs).cost_hash, before);
}

TEST(FillFacts, NoFileNoHash) {
  const source::SourceManager sources;
  const bytecode::Facts facts = FactsOf(testing::GPipe(2, 2), sources);
  EXPECT_EQ(facts.source_file, "");
  EXPECT_EQ(facts.source_hash, "");
}

}  // namespace
}  // namespace pp::emit
