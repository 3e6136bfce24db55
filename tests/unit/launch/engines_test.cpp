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

TEST(Devices, TheCpuNeedsNoDriver) {
  const auto driver = OpenDevice("cpu");
  ASSERT_TRUE(driver);
  EXPECT_EQ(*driver, nullptr);
}

TEST(Devices, AnUnknownOneIsUsageWithASuggestion) {
  const auto driver = OpenDevice("cude");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code(), StatusCode::kUsage);
  EXPECT_NE(driver.error().message().find("`cuda`"), std::string::npos);
}

TEST(Devices, CudaIsThereOrTheMessageSaysWhatIsMissing) {
  const auto driver = OpenDevice("cuda");
  if (driver) {
    EXPECT_GE((*driver)->devices(), 1u);
    return;
  }
  EXPECT_EQ(driver.error().code(), StatusCode::kMachine);
  EXPECT_EQ(driver.error().message().find("--device cuda: "), 0u)
      << driver.error().message();
}

}  // namespace
}  // namespace pp::launch
