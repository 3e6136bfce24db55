// The checks of bytecode against a machine that runs it
// (tests/support/emulator.h), on all programs of small shapes and on many
// random ones, right and wrong. PP_PROPERTY_SCALE=N tries N times as many.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "compiler/analysis/module_graph.h"
#include "compiler/analysis/strict_run.h"
#include "compiler/check/check.h"
#include "compiler/lower/lower.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "tests/property/agreement.h"
#include "tests/support/emulator.h"
#include "tests/support/field_notation.h"
#include "tests/support/order_emulator.h"
#include "tests/support/random_programs.h"

namespace pp {
namespace {

using analysis::EdgeClass;
using bytecode::Module;
using ir::Schedule;
using testing::Random;

const std::set<Code> kHangs = {
    Code::kUnmatchedSend, Code::kUnmatchedReceive, Code::kCollectiveNotReached,
    Code::kDependencyCycle, Code::kCommunicationDeadlock};

bool Intersects(const std::set<Code>& a, const std::set<Code>& b) {
  return std::ranges::any_of(a, [&](Code c) { return b.contains(c); });
}

// A circle is put down to the schedule iff its compute operations alone, with
// results that arrive by themselves, do not come to the end. (Asked only where
// everything else is in order, else the data takes other ways.)
bool BlamesTheRightPart(const Module& module, const std::set<Code>& codes) {
  if (codes.size() != 1 || module.replicas != 1) return true;
  if (codes.contains(Code::kDependencyCycle)) {
    return !testing::EmulateOrder(testing::ComputeOf(module)).finished;
  }
  if (codes.contains(Code::kCommunicationDeadlock)) {
    return testing::EmulateOrder(testing::ComputeOf(module)).finished;
  }
  return true;
}

// What is assumed of the transport, for the check and for the machine.
struct Setting {
  const char* name;
  analysis::Assumptions check;
  testing::Rules machine;
  // The classes of edges without which a program would pass that hangs. Under
  // the strict tier its one queue implies the others.
  std::vector<EdgeClass> needs;
};

constexpr bool kConnect = true;
const Setting kSettings[] = {
    {"strict",
     {analysis::Tier::kStrict},
     {},
     {EdgeClass::kLane, EdgeClass::kGroup, EdgeClass::kDevice}},
    {"lanes",
     {analysis::Tier::kLanes},
     {.queue_per_lane = true},
     {EdgeClass::kProg, EdgeClass::kData, EdgeClass::kLane, EdgeClass::kGroup,
      EdgeClass::kSlot, EdgeClass::kHost, EdgeClass::kWait}},
    {"eager",
     {analysis::Tier::kEager},
     {.eager = true},
     {EdgeClass::kData, EdgeClass::kLane, EdgeClass::kGroup,
      EdgeClass::kDevice}},
    {"strict, connecting",
     {analysis::Tier::kStrict, kConnect},
     {.first_connection = true},
     {EdgeClass::kLane, EdgeClass::kGroup, EdgeClass::kDevice}},
    {"lanes, connecting",
     {analysis::Tier::kLanes, kConnect},
     {.queue_per_lane = true, .first_connection = true},
     {EdgeClass::kProg, EdgeClass::kData, EdgeClass::kLane, EdgeClass::kGroup,
      EdgeClass::kHost, EdgeClass::kWait, EdgeClass::kConnect}},
};

// What each rule of the check is good for: programs that do not run and that
// it alone refuses. Without it they would pass, and the machine would disagree.
struct Witnesses {
  std::map<Code, size_t> codes;
  std::array<size_t, analysis::kEdgeClasses> edges{};

  void Note(const Module& module, const Setting& setting,
            const std::set<Code>& found) {
    if (found.size() != 1) return;
    ++codes[*found.begin()];
    if (*found.begin() != Code::kDependencyCycle &&
        *found.begin() != Code::kCommunicationDeadlock) {
      return;
    }
    const auto graph =
        analysis::BuildModuleGraph(module, analysis::MatchCommunication(module),
                                   setting.check)
            .graph;
    for (size_t c = 0; c < analysis::kEdgeClasses; ++c) {
      const analysis::EdgeMask others =
          analysis::kAllEdges & ~analysis::MaskOf(static_cast<EdgeClass>(c));
      edges[c] += KahnOrder(graph, others).size() == graph.size();
    }
  }

  void Show() const {
    for (const auto& [code, count] : codes) {
      std::printf("  %s alone refuses %zu\n", Info(code).id.data(), count);
    }
    for (size_t c = 0; c < analysis::kEdgeClasses; ++c) {
      const auto& info = Info(static_cast<EdgeClass>(c));
      std::printf("  without edges %s %zu would pass\n", info.name.data(),
                  edges[c]);
    }
  }
};

// The two ways to answer it, where both may be asked.
void StrictRunAgreesWithTheGraph(const Module& module,
                                 const std::set<Code>& codes) {
  if (Intersects(codes, {Code::kUnmatchedSend, Code::kUnmatchedReceive,
                         Code::kCollectiveNotReached})) {
    return;
  }
  const auto match = analysis::MatchCommunication(module);
  const auto graph = analysis::BuildModuleGraph(module, match).graph;
  EXPECT_EQ(analysis::RunsStrict(module, match),
            KahnOrder(graph).size() == graph.size())
      << bytecode::Print(module);
}

bool Agree(const Module& module, Tally& tally,
           const Setting& setting = kSettings[0],
           Witnesses* witnesses = nullptr) {
  if (!bytecode::Verify(module).ok()) {
    ++tally.refused;
    return true;
  }
  const testing::Outcome truth = testing::Emulate(module, setting.machine);
  diag::Emitter diag;
  const bool ok = check::CheckModule(module, diag, setting.check);
  std::set<Code> hangs = kHangs;
  if (setting.machine.eager) hangs.erase(Code::kUnmatchedSend);
  const std::set<Code> codes = Codes(diag);
  std::set<Code> others;
  std::ranges::set_difference(codes, hangs,
                              std::inserter(others, others.end()));
  bool agree = ok == truth.ok() && codes.empty() == ok;
  // Circles are not looked for where a send has no receive; buffered, it hangs
  // nobody by itself.
  if (!(setting.machine.eager && codes.contains(Code::kUnmatchedSend))) {
    agree &= Intersects(codes, hangs) == !truth.finished();
  }
  // A machine that is stuck has not seen all that is wrong; and which message
  // is the wrong one is not asked on lanes where one has no partner.
  const bool orphans = codes.contains(Code::kUnmatchedSend) ||
                       codes.contains(Code::kUnmatchedReceive);
  agree &= others.empty() ? truth.wrong.empty() || orphans
                          : !truth.wrong.empty() || !truth.finished();
  agree &= BlamesTheRightPart(module, codes);
  if (setting.check == analysis::Assumptions{}) {
    StrictRunAgreesWithTheGraph(module, codes);
  }
  if (witnesses != nullptr && !ok && !truth.ok()) {
    witnesses->Note(module, setting, codes);
  }
  ++(truth.ok() ? tally.good : truth.finished() ? tally.wrong : tally.stuck);
  if (!agree) {
    ADD_FAILURE() << setting.name << "\n"
                  << bytecode::Print(module) << truth.Text() << Texts(diag);
  }
  return agree;
}

using Words = std::vector<std::string>;

// All orders of `words` in which each pair (a, b) of `before` keeps a first.
std::vector<Words> Orders(
    Words words, const std::set<std::pair<std::string, std::string>>& before) {
  std::ranges::sort(words);
  std::vector<Words> all;
  do {
    bool fits = true;
    for (size_t i = 0; fits && i < words.size(); ++i) {
      for (size_t j = 0; fits && j < i; ++j) {
        fits = !before.contains({words[i], words[j]});
      }
    }
    if (fits) all.push_back(words);
  } while (std::ranges::next_permutation(words).found);
  return all;
}

bool IsComm(const std::string& word) {
  return word[0] == 'S' || word[0] == 'R';
}

// The words with every way to put neighbours into groups of two or more.
std::vector<std::string> Groupings(const Words& words) {
  std::vector<std::string> all;
  const std::function<void(size_t, std::string)> go = [&](size_t at,
                                                          std::string text) {
    if (at == words.size()) {
      all.push_back(text);
      return;
    }
    go(at + 1, text + words[at] + " ");
    std::string group = "[ ";
    for (size_t end = at; end < words.size() && IsComm(words[end]); ++end) {
      group += words[end] + " ";
      if (end > at) go(end + 1, text + group + "] ");
    }
  };
  go(0, "");
  return all;
}

std::vector<std::string> AllGroupings(const std::vector<Words>& orders) {
  std::vector<std::string> all;
  for (const Words& words : orders) {
    for (std::string& text : Groupings(words)) all.push_back(std::move(text));
  }
  return all;
}

// One micro-batch over two ranks: all orders with waits, and all groupings.
class AllTiers : public ::testing::TestWithParam<Setting> {};

TEST_P(AllTiers, AllProgramsOfTwoRanksOneMicroBatch) {
  const auto first = AllGroupings(
      Orders({"F0", "SF0>1", "RB0<1", "B0", "wSF0", "wRB0"}, {{"F0", "SF0>1"},
                                                              {"SF0>1", "wSF0"},
                                                              {"RB0<1", "wRB0"},
                                                              {"RB0<1", "B0"},
                                                              {"wRB0", "B0"},
                                                              {"F0", "B0"}}));
  const auto second = AllGroupings(Orders(
      {"RF0<0", "F0", "B0", "SB0>0", "wRF0", "wSB0"}, {{"RF0<0", "F0"},
                                                       {"RF0<0", "wRF0"},
                                                       {"wRF0", "F0"},
                                                       {"F0", "B0"},
                                                       {"B0", "SB0>0"},
                                                       {"SB0>0", "wSB0"}}));
  Tally tally;
  for (const std::string& a : first) {
    for (const std::string& b : second) {
      ASSERT_TRUE(Agree(testing::FromNotation({a, b}), tally, GetParam()))
          << a << "| " << b;
    }
  }
  tally.Show("two ranks, one micro-batch");
  EXPECT_GE(tally.good, 4u);
  EXPECT_EQ(tally.refused, 0u);
}

// Two micro-batches over two ranks, on one lane and on two: all 350 x 350 pairs
// of orders under the strict tier; of the others every eighth, all of them at a
// scale of 8.
TEST_P(AllTiers, ProgramsOfTwoRanksTwoMicroBatches) {
  const auto first =
      Orders({"F0", "F1", "SF0>1", "SF1>1", "RB0<1", "RB1<1", "B0", "B1"},
             {{"F0", "SF0>1"},
              {"F1", "SF1>1"},
              {"RB0<1", "B0"},
              {"RB1<1", "B1"},
              {"F0", "B0"},
              {"F1", "B1"}});
  const auto second =
      Orders({"RF0<0", "RF1<0", "F0", "F1", "B0", "B1", "SB0>0", "SB1>0"},
             {{"RF0<0", "F0"},
              {"RF1<0", "F1"},
              {"F0", "B0"},
              {"F1", "B1"},
              {"B0", "SB0>0"},
              {"B1", "SB1>0"}});
  const auto text = [](const Words& words) {
    std::string joined;
    for (const std::string& word : words) joined += word + " ";
    return joined;
  };
  const bool strict = GetParam().check == analysis::Assumptions{};
  const size_t stride = strict ? 1 : std::max<size_t>(1, 8 / Scale());
  Tally tally;
  size_t next = 0, pair = 0;
  for (const Words& a : first) {
    for (const Words& b : second) {
      if (pair++ != next) continue;
      next += stride;
      testing::Notation notation;
      notation.micro_batches = 2;
      for (const std::optional<uint32_t> lane :
           {std::optional<uint32_t>{}, std::optional<uint32_t>{0}}) {
        notation.lane = lane;
        ASSERT_TRUE(Agree(testing::FromNotation({text(a), text(b)}, notation),
                          tally, GetParam()));
      }
    }
  }
  tally.Show("two ranks, two micro-batches");
  EXPECT_GT(tally.good, 5u);
  EXPECT_GT(tally.stuck, 100u);
  EXPECT_GT(tally.wrong, 5u);
}

// One micro-batch over three ranks: all orders and groupings.
TEST_P(AllTiers, AllProgramsOfThreeRanks) {
  const auto first =
      AllGroupings(Orders({"F0", "SF0>1", "RB0<1", "B0"},
                          {{"F0", "SF0>1"}, {"RB0<1", "B0"}, {"F0", "B0"}}));
  const auto second = AllGroupings(
      Orders({"RF0<0", "F0", "SF0>2", "RB0<2", "B0", "SB0>0"}, {{"RF0<0", "F0"},
                                                                {"F0", "SF0>2"},
                                                                {"RB0<2", "B0"},
                                                                {"B0", "SB0>0"},
                                                                {"F0", "B0"}}));
  Tally tally;
  for (const std::string& a : first) {
    for (const std::string& b : second) {
      ASSERT_TRUE(Agree(testing::FromNotation({a, b, "RF0<1 F0 B0 SB0>1"}),
                        tally, GetParam()));
    }
  }
  tally.Show("three ranks");
  EXPECT_GE(tally.good, 1u);
  EXPECT_GT(tally.stuck, 5u);
}

struct Change {
  Module module;
  testing::Mutation last;
};

// One to three changes that the verifier takes, if some are found soon.
Change Broken(const Module& module, Random& random) {
  Change change{module, {}};
  for (int tries = 0; tries < 8; ++tries) {
    change.module = module;
    for (uint32_t k = random() % 3 + 1; k > 0; --k) {
      change.last =
          static_cast<testing::Mutation>(random() % testing::kMutations);
      testing::Mutate(change.module, change.last, random);
    }
    if (bytecode::Verify(change.module).ok()) break;
  }
  return change;
}

TEST_P(AllTiers, RandomPrograms) {
  const Setting& setting = GetParam();
  Tally tally;
  Witnesses witnesses;
  std::array<size_t, testing::kMutations> broken{};
  Random random(2);
  const source::SourceManager sources;
  for (size_t round = 0; round < 9500 * Scale(); ++round) {
    Schedule s = testing::RandomSchedule(random);
    if (round % 8 == 1) testing::Mutate(s, random);
    Module module = testing::RandomModule(s, random() % 4, random);
    if (round % 3 == 0 && round % 8 != 1) {
      auto lowered = lower::Lower(s, ir::CostModel{}, sources, {});
      ASSERT_TRUE(lowered) << lowered.error().message();
      module = std::move(*lowered);
    }
    if (!bytecode::Verify(module).ok()) {
      ASSERT_EQ(round % 8, 1u) << bytecode::Verify(module).message();
      continue;
    }
    ASSERT_TRUE(Agree(module, tally, setting, &witnesses)) << "round " << round;
    for (int n = 0; n < 12; ++n) {
      const auto [changed, last] = Broken(module, random);
      const size_t before = tally.good + tally.refused;
      ASSERT_TRUE(Agree(changed, tally, setting, &witnesses))
          << "round " << round << " " << Name(last);
      broken[static_cast<size_t>(last)] += tally.good + tally.refused == before;
    }
  }
  tally.Show(setting.name);
  witnesses.Show();
  for (size_t m = 0; m < testing::kMutations; ++m) {
    std::printf("  %s: %zu that do not run\n",
                Name(static_cast<testing::Mutation>(m)), broken[m]);
    EXPECT_GT(broken[m], 500u);
  }
  // CollectiveNotReached and ModulePlacement name the cause of what other rules
  // would refuse as well.
  for (const Code code :
       {Code::kUnmatchedSend, Code::kUnmatchedReceive, Code::kFifoMismatch,
        Code::kWrongContent, Code::kMissing, Code::kDoubled,
        Code::kDependencyCycle, Code::kCommunicationDeadlock, Code::kWrongInput,
        Code::kGradientScale, Code::kGradientReduction, Code::kWeightUpdate}) {
    EXPECT_GT(witnesses.codes[code], 0u) << Info(code).id;
  }
  for (const EdgeClass c : setting.needs) {
    EXPECT_GT(witnesses.edges[static_cast<size_t>(c)], 20u) << Info(c).name;
  }
  std::printf("  and %zu that the verifier refused\n", tally.refused);
  EXPECT_GT(tally.good, tally.all() / 50);
  EXPECT_GT(tally.stuck, tally.all() / 40);
  EXPECT_GT(tally.wrong, tally.all() / 50);
}

INSTANTIATE_TEST_SUITE_P(ModuleCheckVsEmulator, AllTiers,
                         ::testing::ValuesIn(kSettings), [](const auto& info) {
                           std::string name;
                           for (const char* c = info.param.name; *c != 0; ++c) {
                             if (std::isalpha(static_cast<unsigned char>(*c)))
                               name += *c;
                           }
                           return name;
                         });

// What passes the strict tier passes every weaker one; what is emitted passes
// also where hosts wait to be connected.
TEST(ModuleCheckVsEmulator, StrictImpliesTheOthers) {
  Random random(3);
  size_t strict = 0, weaker_only = 0;
  for (size_t round = 0; round < 3000 * Scale(); ++round) {
    const Schedule s = testing::RandomSchedule(random);
    const Module module = testing::RandomModule(s, random() % 4, random);
    const auto passes = [&](const analysis::Assumptions& assumptions) {
      diag::Emitter diag;
      return check::CheckModule(module, diag, assumptions);
    };
    const bool gate = passes({});
    strict += gate;
    for (const analysis::Tier tier :
         {analysis::Tier::kLanes, analysis::Tier::kEager}) {
      const bool passed = passes({tier});
      ASSERT_TRUE(passed || !gate) << TierName(tier) << bytecode::Print(module);
      weaker_only += passed && !gate;
    }
  }
  EXPECT_GT(strict, 100u);
  EXPECT_GT(weaker_only, 100u);
}

TEST(ModuleCheckVsEmulator, WhatIsLoweredPassesWhileConnecting) {
  Random random(4);
  const source::SourceManager sources;
  for (size_t round = 0; round < 3000 * Scale(); ++round) {
    const Schedule s = testing::RandomSchedule(random);
    auto lowered = lower::Lower(s, ir::CostModel{}, sources, {});
    ASSERT_TRUE(lowered) << lowered.error().message();
    Tally tally;
    for (const Setting& setting : kSettings) {
      ASSERT_TRUE(Agree(*lowered, tally, setting));
    }
    ASSERT_EQ(tally.good, std::size(kSettings)) << bytecode::Print(*lowered);
  }
}

}  // namespace
}  // namespace pp
