#include "runtime/models/options.h"

#include <gtest/gtest.h>

namespace pp::models {
namespace {

TEST(OptionsTest, DefaultsAndGivenValues) {
  const auto options = ModelOptions::Parse("gpt", {{"dim", "32"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->Get("dim"), 32);
  EXPECT_EQ(options->Get("layers"), 8);
  EXPECT_EQ(options->Get("tie"), 0);
}

TEST(OptionsTest, UnknownNamesGetTheNearest) {
  const auto options = ModelOptions::Parse("gpt", {{"layer", "3"}});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code(), StatusCode::kUsage);
  EXPECT_NE(options.error().message().find("did you mean `layers`"),
            std::string::npos);
  const auto far = ModelOptions::Parse("mlp", {{"heads", "3"}});
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().message().find("did you mean"), std::string::npos);
  EXPECT_NE(far.error().message().find("layers, dim"), std::string::npos);
}

TEST(OptionsTest, BadValuesAreRefused) {
  for (const char* bad : {"", "x", "3x", "0", "-1", "4097", "1e3", " 4",
                          "99999999999999999999"}) {
    const auto options = ModelOptions::Parse("gpt", {{"layers", bad}});
    ASSERT_FALSE(options) << bad;
    EXPECT_NE(options.error().message().find("1..4096"), std::string::npos);
  }
}

}  // namespace
}  // namespace pp::models
