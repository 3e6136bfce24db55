// The schedules of the library at every point of a grid: their order against
// plain loops that know nothing of the language, and their `expect` lines
// against the simulator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/analysis/simulate.h"
#include "compiler/ir/ir_printer.h"
#include "tests/support/op_lists.h"
#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;
using testing::Values;

constexpr uint32_t kMaxP = 16, kMaxM = 64;

SchedText Library(const std::string& name) {
  return SchedText(SchedText::FromPath{
      fmt::format("{}/schedules/{}.sched", PP_SOURCE_ROOT, name)});
}

// Expands `sched` at `values`; its order is that of `wanted` and all of its
// expectations hold.
void CheckPoint(SchedText& sched, const Values& values,
                const ir::Schedule& wanted, size_t expectations) {
  auto expansion = sched.Expand(values);
  ASSERT_EQ(expansion.outcome, expand::Outcome::kExpanded) << sched.Said();
  const ir::Schedule& got = *expansion.schedule;
  ASSERT_EQ(ir::Print(got), ir::Print(wanted));
  ASSERT_EQ(got.placement.stage, wanted.placement.stage);
  ir::CostModel costs;
  ir::Metrics metrics = analysis::Simulate(got, costs);
  size_t evaluated = expand::CheckExpectations(sched.Only(), {values}, got,
                                               metrics, costs, sched.diag());
  ASSERT_FALSE(sched.diag().has_errors()) << sched.Said();
  ASSERT_EQ(evaluated, expectations);
}

using Generator = std::function<ir::Schedule(uint32_t, uint32_t)>;

void CheckGrid(const std::string& name, const Generator& generate,
               std::function<bool(uint32_t, uint32_t)> admissible) {
  SchedText sched = Library(name);
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = 1; m <= kMaxM; ++m) {
      SCOPED_TRACE(fmt::format("P = {}, M = {}", p, m));
      Values values = {{"P", p}, {"M", m}};
      if (!admissible(p, m)) continue;
      CheckPoint(sched, values, generate(p, m), 3);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

bool Always(uint32_t, uint32_t) { return true; }

TEST(Library, GPipe) { CheckGrid("gpipe", testing::GPipe, Always); }

TEST(Library, OneFOneB) {
  CheckGrid(
      "one_f_one_b",
      [](uint32_t p, uint32_t m) { return testing::OneFOneB(p, m); }, Always);
}

TEST(Library, EagerOneFOneB) {
  CheckGrid(
      "eager_1f1b",
      [](uint32_t p, uint32_t m) { return testing::OneFOneB(p, m, true); },
      Always);
}

TEST(Library, ZbH1) {
  CheckGrid("zb_h1", testing::ZbH1,
            [](uint32_t p, uint32_t m) { return m >= p; });
}

TEST(Library, Interleaved) {
  SchedText sched = Library("interleaved");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = p; m <= kMaxM; m += p) {
      for (uint32_t v = 1; v <= 3; ++v) {
        SCOPED_TRACE(fmt::format("P = {}, M = {}, v = {}", p, m, v));
        CheckPoint(sched, {{"P", p}, {"M", m}, {"v", v}},
                   testing::Interleaved(p, m, v), p > 1 ? 3 : 2);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Library, ZbH2) {
  CheckGrid("zb_h2", testing::ZbH2,
            [](uint32_t p, uint32_t m) { return m >= 2 * p - 1; });
}

TEST(Library, ZbV) {
  CheckGrid("zb_v", testing::ZbV,
            [](uint32_t p, uint32_t m) { return m >= 2 * p - 1; });
}

TEST(Library, DualPipeV) {
  CheckGrid("dualpipe_v", testing::DualPipeV,
            [](uint32_t p, uint32_t m) { return m >= 2 * p; });
}

TEST(Library, BreadthFirst) {
  SchedText sched = Library("breadth_first");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = 1; m <= kMaxM; ++m) {
      for (uint32_t v = 1; v <= 3; ++v) {
        SCOPED_TRACE(fmt::format("P = {}, M = {}, v = {}", p, m, v));
        CheckPoint(sched, {{"P", p}, {"M", m}, {"v", v}},
                   testing::BreadthFirst(p, m, v), p > 1 ? 3 : 2);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The generator asks the whole order at each step: a grid it gets through.
void CheckBlock(const std::string& name, const Generator& generate) {
  SchedText sched = Library(name);
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (const uint32_t p : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 9u}) {
    for (const uint32_t m : {1u, 2u, 3u, 5u, 8u, 12u, 20u}) {
      SCOPED_TRACE(fmt::format("P = {}, M = {}", p, m));
      const size_t expectations = 2 + (p >= 3 && m >= p);
      CheckPoint(sched, {{"P", p}, {"M", m}}, generate(p, m), expectations);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Library, VHalf) { CheckBlock("v_half", testing::VHalf); }
TEST(Library, VMin) { CheckBlock("v_min", testing::VMin); }

TEST(Library, Hanayo) {
  SchedText sched = Library("hanayo");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = 1; m <= kMaxM; ++m) {
      for (uint32_t w = 1; w <= 2; ++w) {
        SCOPED_TRACE(fmt::format("P = {}, M = {}, w = {}", p, m, w));
        const size_t expectations = 1 + (m >= p) + (m % p == 0);
        CheckPoint(sched, {{"P", p}, {"M", m}, {"w", w}},
                   testing::Hanayo(p, m, w), expectations);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Library, InterleavedZb) {
  SchedText sched = Library("interleaved_zb");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = p; m <= kMaxM; m += p) {
      for (uint32_t v = 1; v <= 3; ++v) {
        SCOPED_TRACE(fmt::format("P = {}, M = {}, v = {}", p, m, v));
        CheckPoint(sched, {{"P", p}, {"M", m}, {"v", v}},
                   testing::InterleavedZb(p, m, v), p > 1 ? 3 : 2);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Library, InterleavedGroups) {
  SchedText sched = Library("interleaved_groups");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  for (uint32_t p = 1; p <= kMaxP; ++p) {
    for (uint32_t m = p; m <= kMaxM; m += 3) {
      for (uint32_t n = p; n <= m; n += 1 + m / 16) {
        if (m % n != 0 && m % n < p) continue;
        SCOPED_TRACE(fmt::format("P = {}, M = {}, N = {}", p, m, n));
        CheckPoint(sched, {{"P", p}, {"M", m}, {"v", 2}, {"N", n}},
                   testing::InterleavedGroups(p, m, 2, n), p > 1 ? 3 : 2);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Library, WhatIsNotAdmissibleIsRefused) {
  SchedText zb = Library("zb_h1"), interleaved = Library("interleaved");
  EXPECT_EQ(zb.Expand({{"P", 4}, {"M", 3}}).outcome, expand::Outcome::kRefused);
  EXPECT_EQ(interleaved.Expand({{"P", 4}, {"M", 6}}).outcome,
            expand::Outcome::kRefused);
  for (const char* name : {"zb_h2", "zb_v"}) {
    EXPECT_EQ(Library(name).Expand({{"P", 4}, {"M", 6}}).outcome,
              expand::Outcome::kRefused);
  }
  EXPECT_EQ(Library("interleaved_zb").Expand({{"P", 4}, {"M", 6}}).outcome,
            expand::Outcome::kRefused);
  SchedText groups = Library("interleaved_groups");
  EXPECT_EQ(groups.Expand({{"P", 4}, {"M", 8}, {"N", 3}}).outcome,
            expand::Outcome::kRefused);
  EXPECT_EQ(groups.Expand({{"P", 4}, {"M", 13}, {"N", 5}}).outcome,
            expand::Outcome::kRefused);
}

}  // namespace
}  // namespace pp
