// `extends`: what a child says takes the place of what its parents said.
#include <gtest/gtest.h>

#include "compiler/ir/ir_printer.h"
#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;
using testing::Values;

std::string Expanded(SchedText& sched, const std::string& name,
                     const Values& values) {
  if (!sched.ok()) return sched.Said();
  auto expansion = expand::Expand(sched.Get(name), {values}, {}, sched.diag());
  return expansion.schedule ? ir::Print(*expansion.schedule) : sched.Said();
}

constexpr char kBase[] = R"(
schedule base(P, M) {
  place linear
  rank r {
    let warmup = min(P-1-r, M)
    phase warmup { repeat warmup { F } }
    phase steady { repeat M-warmup { F B } }
    phase drain { repeat warmup { B } }
  }
}
)";

TEST(Extends, LetOfARankBlockIsReplacedInItsPlace) {
  SchedText sched(std::string(kBase) +
                  "schedule s(P, M) extends base { let warmup = M }");
  EXPECT_EQ(Expanded(sched, "s", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\nr1: F@0 F@1 B@0 B@1\n");
  EXPECT_EQ(Expanded(sched, "base", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\nr1: F@0 B@0 F@1 B@1\n");
}

TEST(Extends, ANewLetMayServeAReplacedOne) {
  SchedText sched(std::string(kBase) +
                  "schedule s(P, M) extends base {\n"
                  "  let warmup = min(depth - r, M)\n"
                  "  let depth = P + 0 * twice\n"
                  "  let twice = 2 * P\n"
                  "}");
  EXPECT_EQ(Expanded(sched, "s", {{"P", 2}, {"M", 3}}),
            "r0: F@0 F@1 F@2 B@0 B@1 B@2\nr1: F@0 F@1 B@0 F@2 B@1 B@2\n");
}

TEST(Extends, PhaseIsReplacedAndSeesTheLetsOfItsPlace) {
  SchedText sched(std::string(kBase) +
                  "schedule s(P, M) extends base {\n"
                  "  phase drain { repeat warmup { I W } }\n"
                  "}");
  EXPECT_EQ(Expanded(sched, "s", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 B@0 I@1 W@1\nr1: F@0 B@0 F@1 B@1\n");
}

TEST(Extends, RankBlocksAreReplacedAsASet) {
  SchedText sched(std::string(kBase) +
                  "schedule s(P, M) extends base {\n"
                  "  rank 0 { repeat M { F } repeat M { B } }\n"
                  "  rank k in 1..P { repeat M { F B } }\n"
                  "}");
  EXPECT_EQ(Expanded(sched, "s", {{"P", 2}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\nr1: F@0 B@0 F@1 B@1\n");
}

TEST(Extends, OfAVariationTheNearestWins) {
  SchedText sched(std::string(kBase) +
                  "schedule s(P, M) extends base { let warmup = 0 }\n"
                  "schedule t(P, M) extends s { let warmup = M }");
  EXPECT_EQ(Expanded(sched, "s", {{"P", 1}, {"M", 2}}),
            "r0: F@0 B@0 F@1 B@1\n");
  EXPECT_EQ(Expanded(sched, "t", {{"P", 1}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\n");
}

constexpr char kChunked[] = R"(
schedule chunked(P, M, v = 2) {
  place loop(v)
  walk F by (m, c)
  walk B by (m, -c)
  rank r { repeat M*v { F } repeat M*v { B } }
}
)";

TEST(Extends, UnlistedParametersAreInheritedWithTheirDefaults) {
  SchedText sched(std::string(kChunked) +
                  "schedule s(P, M) extends chunked { walk F by (c, m) }");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  EXPECT_EQ(sched.Get("s").params, (std::vector<std::string>{"P", "M", "v"}));
  EXPECT_EQ(Expanded(sched, "s", {{"P", 1}, {"M", 2}}),
            "r0: F[0]@0 F[0]@1 F[1]@0 F[1]@1 B[1]@0 B[0]@0 B[1]@1 B[0]@1\n");
}

TEST(Extends, ALetFixesAParameterOfTheParent) {
  SchedText sched(std::string(kChunked) +
                  "schedule s(P, M) extends chunked { let v = 1 }");
  ASSERT_TRUE(sched.ok()) << sched.Said();
  EXPECT_EQ(sched.Get("s").params, (std::vector<std::string>{"P", "M"}));
  EXPECT_EQ(Expanded(sched, "s", {{"P", 1}, {"M", 2}}),
            "r0: F@0 F@1 B@0 B@1\n");
}

TEST(Extends, PlaceAndMacrosAreReplaced) {
  SchedText sched(R"(
schedule a(P, M) {
  place linear
  macro body() { F B }
  rank r { repeat M { body() } }
}
schedule b(P, M) extends a {
  place custom { stage s in 0..P -> rank P-1-s }
  macro body() { F I W }
}
)");
  EXPECT_EQ(Expanded(sched, "b", {{"P", 1}, {"M", 1}}), "r0: F@0 I@0 W@0\n");
  EXPECT_EQ(sched.diag().all().size(), 0u) << sched.Said();
}

TEST(Extends, ParametersPAndMComeFirstWhateverTheirOrder) {
  SchedText sched("schedule s(v = P, M, P) { place loop(v) rank r { F[0] } }");
  // The default of v rests on what is not declared yet.
  EXPECT_EQ(sched.Said(), "1:16: PP2001 unknown name `P`\n");
  SchedText ordered(
      "schedule s(M, P, v = P) { place loop(v) rank r { F[0] } }");
  ASSERT_TRUE(ordered.ok()) << ordered.Said();
  EXPECT_EQ(ordered.Only().params, (std::vector<std::string>{"P", "M", "v"}));
  EXPECT_EQ(ordered.Only().has_default,
            (std::vector<bool>{false, false, true}));
}

}  // namespace
}  // namespace pp
