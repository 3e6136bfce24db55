#include "runtime/launch/engines.h"

#include <gtest/gtest.h>

namespace pp::launch {
namespace {

TEST(Engines, SyntheticIsBuiltIn) { EXPECT_TRUE(OpenEngine("synthetic")); }

TEST(Engines, AnUnknownModelIsUsageWithASuggestion) {
  const auto factory = OpenEngine("synthetik");
  ASSERT_FALSE(factory);
  EXPECT_EQ(factory.error().code(), StatusCode::kUsage);
  EXPECT_NE(factory.error().message().find("`synthetic`"), std::string::npos);
}

TEST(Engines, AModelOfAPluginNeedsItsLibrary) {
  // The test's own folder has no ../lib with an engine in it.
  for (const ModelRow& row : AllModels()) {
    if (!row.plugin) continue;
    const auto factory = OpenEngine(row.name);
    if (factory) continue;  // this build has the engine
    EXPECT_EQ(factory.error().code(), StatusCode::kMachine);
    EXPECT_NE(factory.error().message().find("LibTorch"), std::string::npos);
  }
}

}  // namespace
}  // namespace pp::launch
