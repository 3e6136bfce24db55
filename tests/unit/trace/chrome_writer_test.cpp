#include "runtime/trace/chrome_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/programs.h"

namespace pp::trace {
namespace {

using nlohmann::json;

// The spans ("ph": "X") of the file.
std::vector<json> Spans(const json& file) {
  std::vector<json> spans;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "X") spans.push_back(event);
  }
  return spans;
}

TEST(ChromeWriter, NamesProcessesAndTracks) {
  const json file = json::parse(ChromeTrace(ChromeHead{2, 1, "gpipe", {}}, {}));
  std::vector<std::string> names;
  for (const json& event : file["traceEvents"]) {
    if (event["args"].contains("name")) {
      names.push_back(event["args"]["name"]);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"rank 0", "compute", "lane 0",
                                             "rank 1", "compute", "lane 0"}));
  EXPECT_EQ(file["otherData"]["schedule"], "gpipe");
}

TEST(ChromeWriter, AMeasuredRunHasOneTrackForComputeAndOneALane) {
  const bytecode::Module module = test::GPipe(2, 1);
  // Rank 0: forward (pc 0), send on lane 0 (pc 1), recv on lane 1 (2), wait.
  std::vector<RankTrace> traces(2);
  traces[0] = {{EventKind::kCompute, 4, 0, 0, 1'000'000, 3'000'000},
               {EventKind::kWait, 4, 3, 0, 3'000'000, 9'000'000},
               {EventKind::kTransfer, 4, 2, 1, 8'500'000, 9'000'000}};
  traces[1] = {{EventKind::kCompute, 4, 2, 0, 3'500'000, 5'500'000}};
  const auto spans = Spans(json::parse(ChromeTrace(module, traces)));
  ASSERT_EQ(spans.size(), 4u);

  EXPECT_EQ(spans[0]["name"], "F s0 m0");
  EXPECT_EQ(spans[0]["cat"], "compute");
  EXPECT_EQ(spans[0]["ts"], 0.0);
  EXPECT_EQ(spans[0]["dur"], 2000.0);
  EXPECT_EQ(spans[0]["args"]["step"], 4);
  EXPECT_EQ(spans[0]["args"]["site"], "test.sched:10:5 steady[0]");

  EXPECT_EQ(spans[1]["name"], "WAIT RECV grad s1 m0");
  EXPECT_EQ(spans[1]["cat"], "wait");
  EXPECT_EQ(spans[1]["tid"], 0);

  EXPECT_EQ(spans[2]["name"], "RECV grad s1 m0");
  EXPECT_EQ(spans[2]["tid"], 2);
  EXPECT_EQ(spans[2]["dur"], 500.0);

  EXPECT_EQ(spans[3]["pid"], 1);
  EXPECT_EQ(spans[3]["name"], "F s1 m0");
}

TEST(ChromeWriter, OutputIsInOrderOfRankTrackAndTime) {
  std::vector<ChromeSpan> spans(3);
  spans[0] = {1, 0, "c", "compute", 0, 1, 0, "", ""};
  spans[1] = {0, 1, "b", "transfer", 0, 1, 0, "", ""};
  spans[2] = {0, 0, "a", "compute", 5, 1, 0, "", ""};
  std::string order;
  for (const json& span :
       Spans(json::parse(ChromeTrace(ChromeHead{2, 1, "x", {}}, spans)))) {
    order += span["name"];
  }
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace pp::trace
