#include "runtime/transport/registry.h"

#include <gtest/gtest.h>

namespace pp::transport {
namespace {

TEST(Registry, ListsEveryTransportWithItsHelp) {
  ASSERT_FALSE(AllTransports().empty());
  for (const TransportRow& row : AllTransports()) {
    EXPECT_FALSE(row.help.empty()) << row.name;
  }
}

TEST(Registry, MakesOneEndpointARank) {
  const auto ends = CreateLocal("inproc", 3);
  ASSERT_TRUE(ends);
  ASSERT_EQ(ends->size(), 3u);
  EXPECT_EQ((*ends)[2]->rank(), Rank(2));
  EXPECT_EQ((*ends)[2]->traits().name, "inproc");
}

TEST(Registry, AnUnknownNameIsUsageWithASuggestion) {
  const auto ends = CreateLocal("inprok", 2);
  ASSERT_FALSE(ends);
  EXPECT_EQ(ends.error().code(), StatusCode::kUsage);
  EXPECT_NE(ends.error().message().find("`inproc`"), std::string::npos)
      << ends.error().message();
}

}  // namespace
}  // namespace pp::transport
