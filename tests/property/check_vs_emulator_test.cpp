// The checks against machines that run the program (tests/support/emulator.h,
// order_emulator.h), on all programs of small shapes and on many random ones,
// right and wrong. PP_PROPERTY_SCALE=N tries N times as many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <set>

#include "compiler/check/check.h"
#include "compiler/lower/lower.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "tests/support/emulator.h"
#include "tests/support/field_notation.h"
#include "tests/support/op_lists.h"
#include "tests/support/order_emulator.h"
#include "tests/support/random_programs.h"

namespace pp {
namespace {

using bytecode::Module;
using diag::Code;
using ir::OpKind;
using ir::Schedule;
using testing::Random;

size_t Scale() {
  const char* text = std::getenv("PP_PROPERTY_SCALE");
  const long scale = text ? std::atol(text) : 1;
  return scale > 0 ? static_cast<size_t>(scale) : 1;
}

std::set<Code> Codes(const diag::Emitter& diag) {
  std::set<Code> codes;
  for (const auto& d : diag.all()) codes.insert(d.code);
  return codes;
}
std::string Texts(const diag::Emitter& diag) {
  std::string text;
  for (const auto& d : diag.all()) {
    text += "check: " + d.message + "\n";
    for (const auto& n : d.notes) text += "  " + n.message + "\n";
  }
  return text;
}

// What a test has met: without both, agreement would mean nothing.
struct Tally {
  size_t good = 0, stuck = 0, wrong = 0, refused = 0;
  size_t all() const { return good + stuck + wrong; }
  void Show(const char* name) const {
    std::printf("%s: %zu programs, %zu good, %zu stuck, %zu wrong\n", name,
                all(), good, stuck, wrong);
  }
};

// ---- Schedules ----

bool Agree(const Schedule& schedule, Tally& tally) {
  const testing::OrderOutcome truth = testing::EmulateOrder(schedule);
  diag::Emitter diag;
  const bool ok = check::CheckSchedule(schedule, diag);
  const std::set<Code> codes = Codes(diag);
  bool agree = ok == truth.ok();
  // Each kind of fault is called by its name.
  if (codes.contains(Code::kDependencyCycle)) {
    agree &= !truth.finished;
  }
  if (truth.finished && !truth.wrong.empty()) {
    agree &= codes.contains(Code::kMissing) || codes.contains(Code::kDoubled);
  }
  ++(truth.ok() ? tally.good : truth.finished ? tally.wrong : tally.stuck);
  if (!agree) {
    ADD_FAILURE() << ir::Describe(schedule, Rank(0), schedule.programs[0][0])
                  << " finished " << truth.finished << "\n"
                  << Texts(diag);
  }
  return agree;
}

using Program = std::vector<ir::Op>;

ir::Op Op(OpKind kind, uint32_t mb, uint16_t chunk = 0) {
  return {kind, chunk, mb, 0, 0};
}

std::vector<Program> Permutations(Program ops) {
  const auto less = [](const ir::Op& a, const ir::Op& b) {
    return std::tuple(a.kind, a.chunk, a.mb) <
           std::tuple(b.kind, b.chunk, b.mb);
  };
  std::ranges::sort(ops, less);
  std::vector<Program> all;
  do {
    all.push_back(ops);
  } while (std::ranges::next_permutation(ops, less).found);
  return all;
}

// Every choice of one program for each rank.
void ForAll(Schedule& schedule,
            const std::vector<std::vector<Program>>& choices,
            const std::function<bool()>& visit, size_t rank = 0) {
  if (rank == choices.size()) {
    visit();
    return;
  }
  for (const Program& program : choices[rank]) {
    if (::testing::Test::HasFailure()) return;
    schedule.programs[rank] = program;
    ForAll(schedule, choices, visit, rank + 1);
  }
}

TEST(CheckVsEmulator, AllOrdersOfSmallSchedules) {
  Tally tally;
  const auto f = OpKind::kF, b = OpKind::kB, i = OpKind::kI, w = OpKind::kW;
  const auto fused = Permutations({Op(f, 0), Op(f, 1), Op(b, 0), Op(b, 1)});
  const auto split = Permutations(
      {Op(f, 0), Op(f, 1), Op(i, 0), Op(i, 1), Op(w, 0), Op(w, 1)});
  const auto two_chunks =
      Permutations({Op(f, 0), Op(f, 0, 1), Op(b, 0), Op(b, 0, 1)});
  const auto run = [&](Schedule s, std::vector<std::vector<Program>> choices) {
    ForAll(s, choices, [&] { return Agree(s, tally); });
  };
  run(testing::LinearFrame(2, 2), {fused, fused});
  run(testing::LinearFrame(3, 2), {fused, fused, fused});
  run(testing::LinearFrame(2, 2), {split, fused});
  run(testing::LinearFrame(2, 2), {fused, split});
  run(testing::LoopFrame(2, 1, 2), {two_chunks, two_chunks});
  run(testing::Frame({{0, 3}, {1, 2}}, 1), {two_chunks, two_chunks});
  run(testing::Frame({{3, 1}, {2, 0}}, 1), {two_chunks, two_chunks});
  tally.Show("orders");
  EXPECT_GT(tally.good, 100u);
  EXPECT_GT(tally.stuck, 100u);
}

// All words of up to five letters on one rank: what is missing or doubled.
TEST(CheckVsEmulator, AllShortProgramsOfOneRank) {
  Tally tally;
  Schedule s = testing::LinearFrame(1, 2);
  Program letters;
  for (size_t k = 0; k < ir::kOpKinds; ++k) {
    for (uint32_t m = 0; m < 2; ++m) {
      letters.push_back(Op(static_cast<OpKind>(k), m));
    }
  }
  const std::function<void(size_t)> grow = [&](size_t left) {
    if (!s.programs[0].empty() && !Agree(s, tally)) return;
    if (left == 0) return;
    for (const ir::Op& op : letters) {
      s.programs[0].push_back(op);
      grow(left - 1);
      s.programs[0].pop_back();
    }
  };
  grow(5);
  tally.Show("words");
  // F0 F1 B0 B1 in 6 orders; with one of the two split, twice 10 orders.
  EXPECT_EQ(tally.good, 26u);
  EXPECT_GT(tally.wrong, 100u);
}

TEST(CheckVsEmulator, RandomSchedules) {
  Tally tally;
  Random random(1);
  for (size_t round = 0; round < 20000 * Scale(); ++round) {
    Schedule s = testing::RandomSchedule(random);
    for (uint32_t n = random() % 4; n > 0; --n) testing::Mutate(s, random);
    if (s.programs[0].empty()) continue;
    ASSERT_TRUE(Agree(s, tally)) << "round " << round;
  }
  tally.Show("random schedules");
  EXPECT_GT(tally.good, tally.all() / 10);
  EXPECT_GT(tally.stuck, tally.all() / 10);
  EXPECT_GT(tally.wrong, tally.all() / 50);
}

// ---- Modules ----

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
};

constexpr bool kConnect = true;
const Setting kSettings[] = {
    {"strict", {analysis::Tier::kStrict}, {}},
    {"lanes", {analysis::Tier::kLanes}, {.queue_per_lane = true}},
    {"eager", {analysis::Tier::kEager}, {.eager = true}},
    {"strict, connecting",
     {analysis::Tier::kStrict, kConnect},
     {.first_connection = true}},
    {"lanes, connecting",
     {analysis::Tier::kLanes, kConnect},
     {.queue_per_lane = true, .first_connection = true}},
};

bool Agree(const Module& module, Tally& tally,
           const Setting& setting = kSettings[0]) {
  if (!bytecode::Verify(module).ok()) {
    ++tally.refused;
    return true;
  }
  const testing::Outcome truth = testing::Emulate(module, setting.machine);
  diag::Emitter diag;
  const bool ok = check::CheckModule(module, diag, setting.check);
  std::set<Code> hangs = kHangs;
  // A send that is buffered hangs nobody.
  if (setting.machine.eager) hangs.erase(Code::kUnmatchedSend);
  const std::set<Code> codes = Codes(diag);
  std::set<Code> others;
  std::ranges::set_difference(codes, hangs,
                              std::inserter(others, others.end()));
  bool agree = ok == truth.ok() && codes.empty() == ok;
  agree &= Intersects(codes, hangs) == !truth.finished();
  // A machine that is stuck has not seen all that is wrong; and which message
  // is the wrong one is not asked on lanes where one has no partner.
  const bool orphans = codes.contains(Code::kUnmatchedSend) ||
                       codes.contains(Code::kUnmatchedReceive);
  agree &= others.empty() ? truth.wrong.empty() || orphans
                          : !truth.wrong.empty() || !truth.finished();
  agree &= BlamesTheRightPart(module, codes);
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
TEST(CheckVsEmulator, AllProgramsOfTwoRanksOneMicroBatch) {
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
      ASSERT_TRUE(Agree(testing::FromNotation({a, b}), tally))
          << a << "| " << b;
    }
  }
  tally.Show("two ranks, one micro-batch");
  EXPECT_EQ(tally.good, 4u);
  EXPECT_GT(tally.stuck, 5u);
  EXPECT_EQ(tally.refused, 0u);
}

// Two micro-batches over two ranks, one lane or two: of all 350 x 350 pairs
// of orders every eighth; all of them at a scale of 8.
TEST(CheckVsEmulator, ProgramsOfTwoRanksTwoMicroBatches) {
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
  const size_t stride = std::max<size_t>(1, 8 / Scale());
  Tally tally;
  size_t next = 0, pair = 0;
  for (const Words& a : first) {
    for (const Words& b : second) {
      if (pair++ != next) continue;
      next += stride;
      testing::Notation notation;
      notation.micro_batches = 2;
      if (pair % 2 == 0) notation.lane = 0;
      ASSERT_TRUE(
          Agree(testing::FromNotation({text(a), text(b)}, notation), tally));
    }
  }
  tally.Show("two ranks, two micro-batches");
  EXPECT_GT(tally.good, 5u);
  EXPECT_GT(tally.stuck, 100u);
  EXPECT_GT(tally.wrong, 5u);
}

// One micro-batch over three ranks: all orders and groupings.
TEST(CheckVsEmulator, AllProgramsOfThreeRanks) {
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
      ASSERT_TRUE(
          Agree(testing::FromNotation({a, b, "RF0<1 F0 B0 SB0>1"}), tally));
    }
  }
  tally.Show("three ranks");
  EXPECT_EQ(tally.good, 1u);
  EXPECT_GT(tally.stuck, 5u);
}

class RandomModules : public ::testing::TestWithParam<Setting> {};

TEST_P(RandomModules, Agree) {
  const Setting& setting = GetParam();
  Tally tally;
  Random random(2);
  const source::SourceManager sources;
  for (size_t round = 0; round < 8000 * Scale(); ++round) {
    const Schedule s = testing::RandomSchedule(random);
    Module module = testing::RandomModule(s, random() % 4, random);
    if (round % 3 == 0) {
      auto lowered = lower::Lower(s, ir::CostModel{}, sources, {});
      ASSERT_TRUE(lowered) << lowered.error().message();
      module = std::move(*lowered);
    }
    ASSERT_TRUE(bytecode::Verify(module).ok())
        << bytecode::Verify(module).message() << bytecode::Print(module);
    ASSERT_TRUE(Agree(module, tally, setting)) << "round " << round;
    for (int n = 0; n < 12; ++n) {
      Module changed = module;
      for (uint32_t k = random() % 3 + 1; k > 0; --k) {
        testing::Mutate(changed, random);
      }
      ASSERT_TRUE(Agree(changed, tally, setting))
          << "round " << round << " " << n;
    }
  }
  tally.Show(setting.name);
  std::printf("  and %zu that the verifier refused\n", tally.refused);
  EXPECT_GT(tally.good, tally.all() / 50);
  EXPECT_GT(tally.stuck, tally.all() / 40);
  EXPECT_GT(tally.wrong, tally.all() / 50);
}

INSTANTIATE_TEST_SUITE_P(Tiers, RandomModules, ::testing::ValuesIn(kSettings),
                         [](const auto& info) {
                           std::string name;
                           for (const char* c = info.param.name; *c != 0; ++c) {
                             if (std::isalpha(static_cast<unsigned char>(*c)))
                               name += *c;
                           }
                           return name;
                         });

// What passes the strict tier passes every weaker one; what is emitted passes
// also where hosts wait to be connected.
TEST(CheckVsEmulator, StrictImpliesTheOthers) {
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

TEST(CheckVsEmulator, WhatIsLoweredPassesWhileConnecting) {
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
