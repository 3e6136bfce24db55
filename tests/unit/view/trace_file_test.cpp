#include "compiler/view/trace_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/view/op_table.h"
#include "tests/unit/view/sample.h"

namespace pp::view {
namespace {

using Json = nlohmann::json;

Picture Sample(bool timed) {
  ir::CostModel costs;
  costs.timed = timed;
  return testing::PictureOf(pp::testing::GPipe(2, 1), "gpipe P=2 M=1", costs);
}

Json Event(int rank, const char* name, double ts, double dur, int step) {
  return {{"ph", "X"},   {"cat", "compute"},
          {"pid", rank}, {"name", name},
          {"ts", ts},    {"dur", dur},
          {"tid", 0},    {"args", {{"step", step}}}};
}

// Step k takes (k == 0 ? 9 : k == 1 ? 4 : 6) ms; a full step is F0 F1 B1 B0.
Json Trace(int steps = 4) {
  Json events = Json::array();
  for (int step = 0; step < steps; ++step) {
    const double late = step == 0 ? 3000 : step == 1 ? -2000 : 0;
    const double at = step * 20'000;
    events.push_back(Event(0, "F s0 m0", at, 1000, step));
    events.push_back(Event(1, "F s1 m0", at + 1000, 1000, step));
    events.push_back(Event(1, "B s1 m0", at + 2000, 2000, step));
    events.push_back(Event(0, "B s0 m0", at + 4000, 2000 + late, step));
  }
  return {{"otherData", {{"times", "measured"}, {"schedule", "gpipe"}}},
          {"traceEvents", std::move(events)}};
}

std::string Fault(const Json& trace, std::optional<uint64_t> step = {}) {
  Picture picture = Sample(true);
  const Status status = AddMeasured(trace.dump(), "t.json", step, &picture);
  EXPECT_EQ(status.code(), StatusCode::kInput);
  return status.message();
}

TEST(AddMeasured, TakesTheStepOfMedianMakespanWithoutTheFirst) {
  Picture picture = Sample(true);
  ASSERT_TRUE(AddMeasured(Trace().dump(), "t.json", {}, &picture).ok());
  ASSERT_EQ(picture.rows[0].measured.size(), 2u);
  const Box& last = picture.rows[0].measured[1];
  EXPECT_EQ(last.begin, 4 * ir::kTicksPerUnit);  // a unit is a millisecond
  EXPECT_EQ(last.end, 6 * ir::kTicksPerUnit);
  EXPECT_EQ(last.kind, ir::OpKind::kB);
  EXPECT_NE(picture.measured_caption.find("step 2 of t.json"),
            std::string::npos);
}

TEST(AddMeasured, StretchesWhereCostsHaveNoUnit) {
  Picture picture = Sample(false);  // F = 1, B = 2
  Json trace = Trace(1);
  for (Json& event : trace["traceEvents"])
    event["dur"] = event["dur"].get<double>() / 2;
  ASSERT_TRUE(AddMeasured(trace.dump(), "t.json", 0, &picture).ok());
  ir::Ticks work = 0;
  for (const Row& row : picture.rows) {
    for (const Box& box : row.measured) work += box.end - box.begin;
  }
  EXPECT_NEAR(static_cast<double>(work), 6.0 * ir::kTicksPerUnit, 4);
}

TEST(AddMeasured, SaysWhatIsNotOurs) {
  Picture picture = Sample(true);
  EXPECT_NE(AddMeasured("{", "t.json", {}, &picture).message().find("no JSON"),
            std::string::npos);
  EXPECT_NE(Fault(Json::array()).find("no list `traceEvents`"),
            std::string::npos);
  Json simulated = Trace();
  simulated["otherData"]["times"] = "simulated";
  EXPECT_NE(Fault(simulated).find("is not `measured`"), std::string::npos);
  Json other = Trace();
  other["otherData"]["schedule"] = "zb_v";
  EXPECT_NE(Fault(other).find("a run of \"zb_v\", not of `gpipe`"),
            std::string::npos);
  EXPECT_NE(Fault(Trace(), 9).find("no step 9; it has 0..3"),
            std::string::npos);
}

TEST(AddMeasured, NamesTheOperationThatDoesNotFit) {
  Json wrong = Trace(1);
  wrong["traceEvents"][0]["name"] = "F s0 m7";
  EXPECT_NE(Fault(wrong).find("rank 0 ran `F s0 m7`"), std::string::npos);
  Json twice = Trace(1);
  twice["traceEvents"].push_back(twice["traceEvents"][0]);
  EXPECT_NE(Fault(twice).find("or not twice"), std::string::npos);
  Json missing = Trace(1);
  missing["traceEvents"].erase(3);
  EXPECT_NE(Fault(missing).find("rank 0 did not run `B s0 m0`"),
            std::string::npos);
}

// Every field of an event replaced by what it must not be.
TEST(AddMeasured, BadFieldsAreFaultsNotCrashes) {
  const std::vector<Json> rubbish = {
      nullptr, -1, 1e300, "x", Json::array(), Json::object(), true};
  for (const char* key : {"pid", "ts", "dur", "name", "args"}) {
    for (const Json& value : rubbish) {
      Json trace = Trace(1);
      trace["traceEvents"][3][key] = value;
      if (key == std::string("ts") && value == -1) continue;  // a time
      EXPECT_NE(Fault(trace), "") << key << " = " << value;
    }
  }
  Json no_object = Trace(1);
  no_object["traceEvents"][0] = 3;
  EXPECT_NE(Fault(no_object).find("event 0 is no object"), std::string::npos);
}

TEST(OpTable, HasBothTimesOfEveryOperation) {
  Picture picture = Sample(true);
  ASSERT_TRUE(AddMeasured(Trace().dump(), "t.json", 0, &picture).ok());
  const std::string table = OpTable(picture);
  EXPECT_NE(
      table.find("B        0      1       2.0000       5.0000   +150.0 %"),
      std::string::npos)
      << table;
  EXPECT_NE(
      table.find("makespan                6.0000       9.0000    +50.0 %"),
      std::string::npos)
      << table;
}

}  // namespace
}  // namespace pp::view
