// Properties over random modules: text and file give back what they were
// given, and what they give back is accepted.
#include <gtest/gtest.h>

#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"
#include "tests/unit/bytecode/random_module.h"
#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

constexpr uint64_t kModules = 1000;

TEST(RoundTrip, RandomModulesAreValid) {
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const Status status = Verify(RandomModule(seed));
    ASSERT_TRUE(status.ok()) << seed << ": " << status.message();
  }
}

TEST(RoundTrip, ThroughTheText) {
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const Module m = RandomModule(seed);
    const std::string text = Print(m);
    const auto back = Parse(text, "x.ppasm");
    ASSERT_TRUE(back) << seed << ": " << back.error().message();
    ASSERT_EQ(*back, m) << text;
    ASSERT_EQ(Print(*back), text);
  }
}

TEST(RoundTrip, ThroughTheFile) {
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const Module m = RandomModule(seed);
    const auto bytes = Write(m);
    ASSERT_TRUE(bytes) << seed << ": " << bytes.error().message();
    const auto back = Read(*bytes);
    ASSERT_TRUE(back) << seed << ": " << back.error().message();
    ASSERT_EQ(*back, m) << seed;
    for (uint32_t rank = 0; rank < m.ranks(); ++rank) {
      ASSERT_EQ(*ReadRank(*bytes, Rank{rank}), m.programs[rank]);
    }
  }
}

TEST(RoundTrip, TheSampleThroughBoth) {
  const Module m = SampleModule();
  EXPECT_EQ(*Parse(Print(*Read(*Write(m))), "x.ppasm"), m);
}

}  // namespace
}  // namespace pp::bytecode
