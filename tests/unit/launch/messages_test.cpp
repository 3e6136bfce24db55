#include "runtime/launch/messages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace pp::launch {
namespace {

TEST(Messages, AStepArrivesBitForBit) {
  RankStep step;
  step.vm = {1, -2, 3, 4, 5};
  step.begin_ns = std::numeric_limits<int64_t>::min();
  step.end_ns = 8;
  step.losses = {{MicroBatch(3), 0.1}, {MicroBatch(0), 1e-310}};
  step.loss_units = 3;
  step.memory = {1, 2, 3, 4, ~uint64_t{0}};
  step.gradients = {{"w", {0.1f, -0.0f, std::nanf("")}}, {"empty", {}}};
  step.weights = {{"w", {3, 1}, {1.5f, -0.0f, 3}}, {"none", {0}, {}}};
  auto got = DecodeStep(Encode(step));
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->vm.end_ns, -2);
  EXPECT_EQ(got->vm.peak_activations, 5u);
  EXPECT_EQ(got->begin_ns, step.begin_ns);
  EXPECT_EQ(got->losses, step.losses);
  EXPECT_EQ(got->memory.peak_predicted, ~uint64_t{0});
  ASSERT_EQ(got->gradients.size(), 2u);
  EXPECT_EQ(std::memcmp(got->gradients[0].second.data(),
                        step.gradients[0].second.data(), 3 * sizeof(float)),
            0);
  ASSERT_EQ(got->weights.size(), 2u);
  EXPECT_EQ(got->weights[0].name, "w");
  EXPECT_EQ(got->weights[0].shape, step.weights[0].shape);
  EXPECT_EQ(got->weights[0].values, step.weights[0].values);
}

TEST(Messages, TheOthersToo) {
  const Ending ending{RankError("why"),
                      {RankState::kEnded, 7, 8, 0.5},
                      {{trace::EventKind::kTransfer, 1, 2, 3, -4, 5}}};
  auto end = DecodeEnding(Encode(ending));
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->status.message(), "why");
  EXPECT_EQ(end->place.pc, 8u);
  ASSERT_EQ(end->trace.size(), 1u);
  EXPECT_EQ(end->trace[0].begin_ns, -4);
  const Hello hello{"t", 1, 2, "me", {{"a", "b"}}};
  auto said = DecodeHello(Encode(hello));
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(said->identity, hello.identity);
  EXPECT_EQ(*DecodeText(Encode(std::string("x"))), "x");
  EXPECT_EQ(*DecodeNumber(Encode(int64_t{-5})), -5);
  EXPECT_EQ(DecodeStatus(Encode(MachineError("disk"))).code(),
            StatusCode::kMachine);
}

// Whatever comes over the wire is an error at worst.
TEST(Messages, BrokenBytesAreErrors) {
  std::mt19937 random(1);
  const Bytes whole = Encode(Ending{RankError("why"), {}, {}});
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = whole;
    bytes.resize(random() % (bytes.size() + 1));
    for (int k = 0; k < 3 && !bytes.empty(); ++k) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    refused += !DecodeEnding(bytes);
    (void)DecodeHello(bytes);
    (void)DecodeStep(bytes);
    (void)DecodePlace(bytes);
    (void)DecodeText(bytes);
    (void)DecodeNumber(bytes);
    (void)DecodeStatus(bytes);
  }
  EXPECT_GT(refused, 10'000u);
}

}  // namespace
}  // namespace pp::launch
