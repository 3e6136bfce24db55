#include "runtime/trace/summary.h"

#include <gtest/gtest.h>

namespace pp::trace {
namespace {

// GPipe, P = 2, M = 3, F = 1, B = 2: the formulas of the three metrics.
TEST(Summary, GPipeGivesTheFormulas) {
  const std::vector<RankSpan> spans = {{100, 112, 9}, {101, 110, 9}};
  const Summary summary = Summarize(spans);
  EXPECT_EQ(summary.makespan_ns, 12);
  EXPECT_DOUBLE_EQ(summary.bubble_fraction, 1. / 4);  // (P-1)/(M+P-1)
  EXPECT_DOUBLE_EQ(summary.bubble_overhead, 1. / 3);  // (P-1)/M
  EXPECT_DOUBLE_EQ(summary.bubble_longest_stage, 1. / 4);
  EXPECT_EQ(summary.busy_ns, (std::vector<int64_t>{9, 9}));
  EXPECT_EQ(summary.idle_ns, (std::vector<int64_t>{3, 3}));
}

TEST(Summary, TheLongestStageMayHaveNoBubbleWhereRanksAreShifted) {
  const std::vector<RankSpan> spans = {{0, 9, 9}, {3, 12, 9}};
  const Summary summary = Summarize(spans);
  EXPECT_DOUBLE_EQ(summary.bubble_longest_stage, 0);
  EXPECT_DOUBLE_EQ(summary.bubble_fraction, 0.25);
}

TEST(Summary, NothingComputedIsAllZero) {
  const std::vector<RankSpan> spans(3);
  const Summary summary = Summarize(spans);
  EXPECT_EQ(summary.makespan_ns, 0);
  EXPECT_EQ(summary.bubble_fraction, 0);
  EXPECT_EQ(summary.bubble_overhead, 0);
  EXPECT_EQ(summary.bubble_longest_stage, 0);
}

TEST(Summary, SpansComeFromTheComputeEventsOfOneStep) {
  const RankTrace trace = {{EventKind::kMeta, 0, 9, 0, 0, 1},
                           {EventKind::kCompute, 1, 0, 0, 5, 8},
                           {EventKind::kWait, 1, 1, 0, 8, 20},
                           {EventKind::kCompute, 1, 2, 0, 20, 26},
                           {EventKind::kTransfer, 1, 1, 0, 2, 40},
                           {EventKind::kCompute, 2, 0, 0, 50, 60}};
  const std::vector<RankSpan> spans = SpansOf({&trace, 1}, 1);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].begin_ns, 5);
  EXPECT_EQ(spans[0].end_ns, 26);
  EXPECT_EQ(spans[0].busy_ns, 9);
}

}  // namespace
}  // namespace pp::trace
