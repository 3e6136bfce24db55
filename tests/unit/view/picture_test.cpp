#include "compiler/view/picture.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/view/chrome.h"
#include "compiler/view/page.h"
#include "compiler/view/svg.h"
#include "tests/unit/view/sample.h"

namespace pp::view {
namespace {

using ir::kTicksPerUnit;
using testing::PictureOf;

std::vector<std::pair<ir::Ticks, double>> Steps(const Row& row) {
  std::vector<std::pair<ir::Ticks, double>> steps;
  for (const MemoryStep& step : row.memory) {
    steps.emplace_back(step.at / kTicksPerUnit, step.held);
  }
  return steps;
}

using StepList = std::vector<std::pair<ir::Ticks, double>>;

TEST(MakePicture, MemoryStepsAtBeginsAndEnds) {
  // Rank 1 of 1F1B: F0 B0 F1 B1 at 1, 2, 4, 5.
  const Picture picture = PictureOf(pp::testing::OneFOneB(2, 2), "x P=2 M=2");
  EXPECT_EQ(Steps(picture.rows[1]), (StepList{{0, 0}, {1, 1}, {4, 1}, {7, 0}}));
  EXPECT_EQ(picture.memory_unit, "activations");
  EXPECT_EQ(picture.end, 9 * kTicksPerUnit);
}

TEST(MakePicture, BytesFallAfterIAndStandOnWhatIsFixed) {
  ir::MemoryModel memory;
  memory.each.act = 10;
  memory.each.after_i = 4;
  std::vector<ir::RankMemory> ranks(1);
  ranks[0].weights = 100;
  ranks[0].activations = 10;
  // One rank, one micro-batch: F I W.
  const Picture picture =
      PictureOf(pp::testing::ZbH1(1, 1), "x P=1 M=1", {}, &memory, ranks);
  EXPECT_EQ(Steps(picture.rows[0]), (StepList{{0, 110}, {2, 104}, {3, 100}}));
  EXPECT_EQ(picture.memory_unit, "B");
}

TEST(MakePicture, TransfersLeaveWhenComputedAndStayOffOneRank) {
  ir::CostModel costs;
  costs.comm = kTicksPerUnit / 2;
  const Picture picture =
      PictureOf(pp::testing::GPipe(2, 1), "x P=2 M=1", costs);
  ASSERT_EQ(picture.transfers.size(), 2u);
  EXPECT_EQ(picture.transfers[0].begin, kTicksPerUnit);
  EXPECT_EQ(picture.transfers[0].end, 3 * kTicksPerUnit / 2);
  EXPECT_FALSE(picture.transfers[0].gradient);
  EXPECT_TRUE(picture.transfers[1].gradient);
  EXPECT_EQ(picture.transfers[1].from, 1u);
  EXPECT_TRUE(
      PictureOf(pp::testing::GPipe(1, 3), "x P=1 M=3").transfers.empty());
}

TEST(Svg, HasOneBoxAnOperationAndRefusesTooMany) {
  Picture picture = PictureOf(pp::testing::GPipe(2, 3), "a<b P=2 M=3");
  const auto svg = Svg(picture);
  ASSERT_TRUE(svg);
  size_t boxes = 0;
  for (size_t at = svg->find("<g>"); at != std::string::npos;
       at = svg->find("<g>", at + 1)) {
    ++boxes;
  }
  EXPECT_EQ(boxes, 12u);
  EXPECT_NE(svg->find("a&lt;b"), std::string::npos);
  EXPECT_EQ(*svg, *Svg(picture));  // the same bytes each time
  picture.rows[0].simulated.resize(kMaxSvgBoxes);
  const auto refused = Svg(picture);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), StatusCode::kUsage);
}

TEST(Page, HoldsThePictureAsDataThatEndsNoScript) {
  Picture picture = PictureOf(pp::testing::GPipe(2, 1), "x P=2 M=1");
  picture.places.push_back({"f:1:1", "", "</script><b>"});
  const auto page = Page(picture);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("</script><b>"), std::string::npos);
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page->find(open) + open.size();
  const auto data = nlohmann::json::parse(
      page->substr(begin, page->find("</script>", begin) - begin));
  EXPECT_EQ(data["title"], "x P=2 M=1");
  EXPECT_EQ(data["rows"].size(), 2u);
  EXPECT_EQ(data["places"].back()[2], "</script><b>");
  EXPECT_EQ(page->find("http://"), std::string::npos);  // needs no network
  EXPECT_EQ(page->find("https://"), std::string::npos);
}

TEST(ChromeTrace, HasComputeAndLanes) {
  const auto trace = nlohmann::json::parse(
      ChromeTrace(PictureOf(pp::testing::GPipe(2, 1), "gpipe P=2 M=1")));
  EXPECT_EQ(trace["otherData"]["schedule"], "gpipe");
  size_t compute = 0, transfers = 0;
  for (const auto& event : trace["traceEvents"]) {
    compute += event.value("cat", "") == "compute";
    transfers += event.value("cat", "") == "transfer";
  }
  EXPECT_EQ(compute, 4u);
  EXPECT_EQ(transfers, 4u);
}

}  // namespace
}  // namespace pp::view
