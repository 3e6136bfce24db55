// The meeting of ranks 1.. with rank 0, over real sockets.
#include "runtime/launch/remote.h"

#include <gtest/gtest.h>

#include <future>

#include "runtime/launch/worker.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Deadline In(int ms) { return steady_clock::now() + milliseconds(ms); }

Hello HelloOf(uint32_t rank, uint32_t ranks, const std::string& seed = "1") {
  return {"", rank, ranks, "host " + std::to_string(rank), {{"--seed", seed}}};
}

Listener Open() {
  auto listener = Listener::On("127.0.0.1", 0);
  EXPECT_TRUE(listener) << listener.error().message();
  return std::move(*listener);
}

std::future<Result<std::string>> Come(uint16_t port, const Hello& hello,
                                      int ms = 5000) {
  return std::async(std::launch::async, [=]() -> Result<std::string> {
    PP_ASSIGN_OR_RETURN(const auto connection,
                        Connect("127.0.0.1", port, In(ms)));
    return Introduce(*connection, hello, In(ms));
  });
}

TEST(Gather, AllComeAndAreWelcome) {
  Listener listener = Open();
  auto two = Come(listener.port(), HelloOf(2, 3));
  auto one = Come(listener.port(), HelloOf(1, 3));
  auto peers = GatherPeers(listener, HelloOf(0, 3), In(5000));
  ASSERT_TRUE(peers) << peers.error().message();
  ASSERT_EQ(peers->size(), 2u);
  EXPECT_EQ((*peers)[0].rank, Rank(1));
  EXPECT_EQ((*peers)[1].rank, Rank(2));
  for (const Peer& peer : *peers) {
    // One clock on one machine.
    EXPECT_LT(std::abs(peer.clock_ns), 50'000'000);
    ASSERT_TRUE(
        peer.connection
            ->Send(FrameType::kWelcome, Encode(std::string("here")), In(1000))
            .ok());
  }
  EXPECT_EQ(*one.get(), "here");
  EXPECT_EQ(*two.get(), "here");
}

TEST(Gather, AnotherIdentityIsRefusedOnBothSides) {
  Listener listener = Open();
  auto one = Come(listener.port(), HelloOf(1, 2, "7"));
  auto peers = GatherPeers(listener, HelloOf(0, 2), In(5000));
  ASSERT_FALSE(peers);
  const char* why =
      "rank 1 (host 1) differs from rank 0 (host 0): --seed is `7` there, `1` "
      "here";
  EXPECT_EQ(peers.error().message(), why);
  auto said = one.get();
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message(), why);
}

TEST(Gather, TwoOfOneRankAreNamed) {
  Listener listener = Open();
  auto one = Come(listener.port(), HelloOf(1, 3));
  auto other = Come(listener.port(), HelloOf(1, 3));
  auto peers = GatherPeers(listener, HelloOf(0, 3), In(5000));
  ASSERT_FALSE(peers);
  EXPECT_NE(peers.error().message().find("two processes say that they are rank "
                                         "1"),
            std::string::npos);
  EXPECT_FALSE(one.get());
  EXPECT_FALSE(other.get());
}

TEST(Gather, WhoIsMissingIsSaidToThoseWhoCame) {
  Listener listener = Open();
  auto two = Come(listener.port(), HelloOf(2, 4));
  auto peers = GatherPeers(listener, HelloOf(0, 4), In(300));
  ASSERT_FALSE(peers);
  EXPECT_EQ(peers.error().message(), "ranks 1, 3 of 4 did not come in time");
  EXPECT_EQ(two.get().error().message(), peers.error().message());
}

TEST(Gather, StrangersAreSentAway) {
  Listener listener = Open();
  auto stranger = std::async(std::launch::async, [&] {
    auto connection = Connect("127.0.0.1", listener.port(), In(1000));
    ASSERT_TRUE(connection);
    // An announced length that is not believed.
    EXPECT_TRUE((*connection)
                    ->Send(FrameType::kHello, Bytes(1'000'000), In(1000))
                    .ok());
  });
  auto one = Come(listener.port(), HelloOf(1, 2));
  auto peers = GatherPeers(listener, HelloOf(0, 2), In(5000));
  EXPECT_TRUE(peers) << peers.error().message();
  if (peers) {
    (void)peers->front().connection->Send(
        FrameType::kWelcome, Encode(std::string("here")), In(1000));
  }
  stranger.get();
  one.get();
}

TEST(Connect, SaysWhereNobodyListens) {
  uint16_t port = 0;
  { port = Open().port(); }
  auto connection = Connect("127.0.0.1", port, In(200));
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().message(),
            "rank 0 is not reached at 127.0.0.1 port " + std::to_string(port) +
                ": Connection refused");
}

TEST(Listener, APortInUseIsNamed) {
  Listener first = Open();
  auto second = Listener::On("127.0.0.1", first.port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), StatusCode::kMachine);
  EXPECT_NE(second.error().message().find(
                "Address already in use; choose another with MASTER_PORT"),
            std::string::npos);
}

}  // namespace
}  // namespace pp::launch
