#include "runtime/models/partition.h"

#include <gtest/gtest.h>

namespace pp::models {
namespace {

TEST(PartitionTest, EverySplitCoversTheLayersInOrder) {
  for (uint32_t layers = 1; layers <= 12; ++layers) {
    for (uint32_t stages = 1; stages <= layers; ++stages) {
      const auto ranges = Partition("m", layers, stages);
      ASSERT_TRUE(ranges);
      ASSERT_EQ(ranges->size(), stages);
      uint32_t at = 0;
      for (const LayerRange& range : *ranges) {
        EXPECT_EQ(range.begin, at);
        const uint32_t size = range.end - range.begin;
        EXPECT_TRUE(size == layers / stages || size == layers / stages + 1);
        at = range.end;
      }
      EXPECT_EQ(at, layers);
      EXPECT_TRUE(ranges->front().first());
      EXPECT_TRUE(ranges->back().last());
    }
  }
}

TEST(PartitionTest, EarlierStagesTakeTheRemainder) {
  const auto ranges = Partition("m", 7, 3);
  ASSERT_TRUE(ranges);
  EXPECT_EQ((*ranges)[0].end, 3u);
  EXPECT_EQ((*ranges)[1].end, 5u);
  EXPECT_EQ((*ranges)[2].end, 7u);
}

TEST(PartitionTest, MoreStagesThanLayersNamesBoth) {
  const auto ranges = Partition("gpt", 4, 6);
  ASSERT_FALSE(ranges);
  EXPECT_EQ(ranges.error().code(), StatusCode::kUsage);
  EXPECT_NE(ranges.error().message().find("6 stages"), std::string::npos);
  EXPECT_NE(ranges.error().message().find("4 layers"), std::string::npos);
  EXPECT_FALSE(Partition("gpt", 4, 0));
}

TEST(PartitionTest, MicroBatchesCoverTheBatchLargestFirst) {
  for (uint32_t batch = 1; batch <= 20; ++batch) {
    for (uint32_t count = 1; count <= batch; ++count) {
      uint32_t at = 0, before = batch;
      for (uint32_t m = 0; m < count; ++m) {
        EXPECT_EQ(MicroBatchBegin(batch, count, m), at);
        const uint32_t rows = MicroBatchRows(batch, count, m);
        EXPECT_GE(rows, 1u);
        EXPECT_LE(rows, before);
        before = rows;
        at += rows;
      }
      EXPECT_EQ(at, batch);
    }
  }
}

}  // namespace
}  // namespace pp::models
