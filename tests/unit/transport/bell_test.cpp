#include "runtime/transport/inproc/bell.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace pp::transport::inproc {
namespace {

Deadline In(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// Two threads in turn, each woken by the other: one waking that is lost, and
// the deadline ends it.
void TakeTurns(uint32_t cores) {
  constexpr int kTurns = 4000;
  Crowd crowd(2, cores);
  std::array<Bell, 2> bells{Bell(crowd), Bell(crowd)};
  std::atomic<int> turn{0};
  std::array<int, 2> taken{};
  const auto play = [&](int self) {
    for (int next = self; next < kTurns; next += 2) {
      if (!bells[self].WaitUntil(In(std::chrono::seconds(60)),
                                 [&] { return turn.load() == next; })) {
        return;
      }
      ++taken[self];
      turn.store(next + 1);
      bells[1 - self].Ring();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(taken[0], kTurns / 2);
  EXPECT_EQ(taken[1], kTurns / 2);
}

TEST(Bell, NoWakingIsLostBetweenThreadsThatSleep) { TakeTurns(0); }

TEST(Bell, NoWakingIsLostBetweenThreadsThatSpin) { TakeTurns(2); }

TEST(Bell, ARingForSomethingElseIsNotTheEndOfTheWait) {
  Crowd crowd(2, 0);
  Bell bell(crowd);
  std::atomic<bool> ready{false};
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) bell.Ring();
    ready.store(true);
    bell.Ring();
  });
  EXPECT_TRUE(bell.WaitUntil(In(std::chrono::seconds(60)),
                             [&] { return ready.load(); }));
  EXPECT_TRUE(ready.load());
  other.join();
}

TEST(Bell, TheDeadlineEndsAWaitThatNobodyRingsFor) {
  Crowd crowd(1, 1);
  Bell bell(crowd);
  EXPECT_FALSE(
      bell.WaitUntil(In(std::chrono::milliseconds(5)), [] { return false; }));
  EXPECT_TRUE(crowd.HaveRoom());  // awake again, and counted once
}

}  // namespace
}  // namespace pp::transport::inproc
