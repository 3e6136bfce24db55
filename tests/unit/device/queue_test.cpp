#include "runtime/device/queue.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/fake_device.h"

namespace pp::device {
namespace {

class QueueTest : public testing::Test {
 protected:
  std::shared_ptr<Queue> NewQueue(uint32_t device = 0) {
    auto base = Timebase::Create(fake_, device);
    EXPECT_TRUE(base);
    auto queue = Queue::Create(*base);
    EXPECT_TRUE(queue);
    EXPECT_TRUE((*queue)->BeginStep().ok());
    return *queue;
  }
  Status Work(Queue& queue, int64_t ns, const Buffer* in = nullptr,
              Buffer* out = nullptr) {
    Spin spin;
    spin.ns = ns;
    if (in != nullptr) spin.in = in->data;
    if (out != nullptr) spin.out = out->data;
    return queue.driver().Run(queue.compute(), spin);
  }
  int64_t TimeOf(const Mark& mark) {
    auto& driver = *fake_;
    EXPECT_TRUE(driver.WaitIdle(mark.event()).ok());
    const auto time = mark.TimeNs();
    EXPECT_TRUE(time);
    return *time;
  }

  std::shared_ptr<test::FakeDevice> fake_ =
      std::make_shared<test::FakeDevice>(2);
};

TEST_F(QueueTest, MarksTellWhenWorkRan) {
  const auto queue = NewQueue();
  const auto begin = queue->Record();
  ASSERT_TRUE(Work(*queue, 5'000'000).ok());
  const auto end = queue->Record();
  ASSERT_TRUE(begin && end);
  EXPECT_TRUE(*begin->Passed());
  EXPECT_FALSE(*end->Passed());
  EXPECT_EQ(TimeOf(*end) - TimeOf(*begin), 5'000'000);
  EXPECT_TRUE(*end->Passed());
}

TEST_F(QueueTest, RanksOfADeviceHaveOneClock) {
  const auto base = Timebase::Create(fake_, 0);
  const auto a = Queue::Create(*base), b = Queue::Create(*base);
  ASSERT_TRUE((*a)->BeginStep().ok());
  ASSERT_TRUE(Work(**a, 7'000'000).ok());
  const auto after = (*a)->Record();
  ASSERT_TRUE((*b)->Follow(*after).ok());
  ASSERT_TRUE((*b)->BeginStep().ok());  // 7 ms later
  const auto same = (*b)->Record();
  EXPECT_EQ(TimeOf(*same), TimeOf(*after));
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE(Work(**b, 1'000'003).ok());
    ASSERT_TRUE((*b)->BeginStep().ok());
  }
  const auto late = (*b)->Record();
  EXPECT_EQ(TimeOf(*late) - TimeOf(*same), 100'000'300);
}

TEST_F(QueueTest, WorkFollowsTheMarkOfAnotherRank) {
  const auto a = NewQueue(0), b = NewQueue(1);
  auto message = a->Allocate(64);
  ASSERT_TRUE(message);
  ASSERT_TRUE(Work(*a, 3'000, nullptr, &*message).ok());
  const auto ready = a->Record();
  auto local = b->Allocate(64);
  ASSERT_TRUE(b->Follow(*ready).ok());
  const Status copied =
      fake_->Copy(b->compute(), local->data, 1, message->data, 0, 64);
  EXPECT_TRUE(copied.ok()) << copied.message();
  EXPECT_EQ(TimeOf(*b->Record()) - 1'000'000'000, 3'000);
}

TEST_F(QueueTest, TheFakeFindsAMissingOrder) {
  const auto a = NewQueue(), b = NewQueue();
  auto message = a->Allocate(64);
  ASSERT_TRUE(Work(*a, 3'000, nullptr, &*message).ok());
  EXPECT_TRUE(Work(*b, 1, &*message).ok());
  const Status status = b->Record().error();
  EXPECT_NE(status.message().find("race: reads"), std::string::npos);
}

TEST_F(QueueTest, MemoryIsUsedAgainInTheOrderOfTheStream) {
  const auto queue = NewQueue();
  auto first = queue->Allocate(100);
  ASSERT_TRUE(Work(*queue, 10, nullptr, &*first).ok());
  const std::byte* const at = first->data;
  *first = Buffer{};
  auto second = queue->Allocate(200);  // both are a unit of 512 bytes
  EXPECT_EQ(second->data, at);
  EXPECT_TRUE(Work(*queue, 10, nullptr, &*second).ok());
}

TEST_F(QueueTest, MemoryThatAPeerMayReadIsNotUsedAgain) {
  const auto a = NewQueue(), b = NewQueue();
  auto message = a->Allocate(64);
  ASSERT_TRUE(Work(*a, 10, nullptr, &*message).ok());
  const auto ready = a->Record();
  ASSERT_TRUE(b->Follow(*ready).ok());
  b->Use(*message);
  ASSERT_TRUE(Work(*b, 1'000'000, &*message).ok());
  const std::byte* const at = message->data;
  *message = Buffer{};
  auto other = a->Allocate(64);
  EXPECT_NE(other->data, at);
  EXPECT_TRUE(Work(*a, 10, nullptr, &*other).ok());
  EXPECT_EQ(fake_->allocated_bytes(0), 1024u);
  // The host has seen the peer finish: now it is.
  const auto done = b->Record();
  ASSERT_TRUE(fake_->WaitIdle(done->event()).ok());
  auto third = a->Allocate(64);
  EXPECT_EQ(third->data, at);
  EXPECT_TRUE(Work(*a, 10, nullptr, &*third).ok());
}

TEST_F(QueueTest, KeptBuffersGoWhenTheirMarkIsPassed) {
  const auto queue = NewQueue();
  const auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owner;
  ASSERT_TRUE(Work(*queue, 1'000).ok());
  const auto mark = queue->Record();
  queue->KeepUntil(*mark, Buffer{nullptr, 0, owner});
  EXPECT_EQ(watch.use_count(), 2);
  ASSERT_TRUE(queue->BeginStep().ok());  // waits for the mark
  EXPECT_EQ(watch.use_count(), 1);
}

TEST_F(QueueTest, NoMemoryIsTheMachinesFault) {
  const auto queue = NewQueue();
  fake_->LimitMemory(1024);
  auto first = queue->Allocate(512);
  ASSERT_TRUE(first);
  const auto second = queue->Allocate(1000);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), StatusCode::kMachine);
}

TEST_F(QueueTest, NothingIsLeftBehind) {
  {
    const auto a = NewQueue(0), b = NewQueue(1);
    auto message = a->Allocate(64);
    const auto mark = a->Record();
    b->Use(*message);
    ASSERT_TRUE(b->Follow(*mark).ok());
    Buffer longer = *message;
    b->KeepUntil(*mark, std::move(longer));
    b->Close();
  }
  EXPECT_EQ(fake_->live_objects(), 0u);
}

}  // namespace
}  // namespace pp::device
