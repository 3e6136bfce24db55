#include "runtime/launch/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/base/clock.h"

namespace pp::launch {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr size_t kMostBytes = size_t{1} << 32;  // gradients of a rank, a trace

Deadline Soon() { return steady_clock::now() + seconds(2); }

// The first fact that is not the same.
Status SameIdentity(const Hello& mine, const Hello& other) {
  if (other.ranks != mine.ranks) {
    return UsageError(
        fmt::format("rank {} ({}) was started as one of {}, rank "
                    "0 as one of {}",
                    other.rank, other.who, other.ranks, mine.ranks));
  }
  for (size_t i = 0; i < mine.identity.size(); ++i) {
    const auto& [name, value] = mine.identity[i];
    const bool named =
        i < other.identity.size() && other.identity[i].first == name;
    if (named && other.identity[i].second == value) continue;
    return UsageError(fmt::format(
        "rank {} ({}) differs from rank 0 ({}): {} is `{}` there, `{}` here",
        other.rank, other.who, mine.who, name,
        named ? other.identity[i].second : "not given", value));
  }
  return OkStatus();
}

std::string Missing(uint32_t ranks, const std::map<uint32_t, Peer>& came) {
  std::string missing;
  size_t count = 0;
  for (uint32_t r = 1; r < ranks; ++r) {
    if (came.contains(r)) continue;
    ++count;
    if (count <= 8) missing += fmt::format("{}{}", count > 1 ? ", " : "", r);
  }
  if (count > 8) missing += fmt::format(" and {} more", count - 8);
  return (count == 1 ? "rank " : "ranks ") + missing;
}

// Half of the shortest trip there and back is how long the answer took.
Result<int64_t> ClockOf(Connection& connection, Deadline deadline) {
  int64_t best_trip = INT64_MAX, offset = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t sent = NowNs();
    PP_RETURN_IF_ERROR(
        connection.Send(FrameType::kClock, Encode(int64_t{0}), deadline));
    PP_ASSIGN_OR_RETURN(const auto answer, connection.Receive(deadline));
    if (!answer || answer->type != FrameType::kClock) {
      return Fail(RankError("it does not tell its clock"));
    }
    PP_ASSIGN_OR_RETURN(const int64_t there, DecodeNumber(answer->bytes));
    const int64_t back = NowNs();
    if (back - sent >= best_trip) continue;
    best_trip = back - sent;
    offset = sent + (back - sent) / 2 - there;
  }
  return offset;
}

// A connection that begins like one of ours; else it is dropped.
std::optional<Hello> Greet(Connection& connection, const Hello& mine) {
  auto frame = connection.Receive(Soon());
  if (!frame || !*frame || (*frame)->type != FrameType::kHello) return {};
  auto hello = DecodeHello((*frame)->bytes);
  if (!hello || hello->token != mine.token) return {};
  return std::move(*hello);
}

class Gathering {
 public:
  Gathering(const Hello& mine, Deadline deadline)
      : mine_(mine), deadline_(deadline) {}

  Status Run(Listener& listener) {
    while (came_.size() + 1 < mine_.ranks) {
      auto connection = listener.Accept(deadline_);
      if (connection == nullptr) {
        if (steady_clock::now() < deadline_) continue;
        return RankError(fmt::format("{} of {} did not come in time",
                                     Missing(mine_.ranks, came_), mine_.ranks));
      }
      PP_RETURN_IF_ERROR(Take(std::move(connection)));
    }
    return OkStatus();
  }

  std::vector<Peer> Peers() {
    std::vector<Peer> peers;
    for (auto& [rank, peer] : came_) peers.push_back(std::move(peer));
    return peers;
  }

 private:
  Status Take(std::unique_ptr<Connection> connection) {
    const std::optional<Hello> hello = Greet(*connection, mine_);
    if (!hello) return OkStatus();
    Peer peer{Rank(hello->rank), hello->who, std::move(connection), 0};
    Status fits = SameIdentity(mine_, *hello);
    if (fits.ok() && (hello->rank == 0 || hello->rank >= mine_.ranks ||
                      came_.contains(hello->rank))) {
      fits =
          UsageError(fmt::format("two processes say that they are rank {}: "
                                 "the second is {}",
                                 hello->rank, hello->who));
    }
    if (fits.ok()) {
      auto clock = ClockOf(*peer.connection, Soon());
      if (clock) peer.clock_ns = *clock;
      if (!clock) {
        fits = clock.error().WithContext(
            fmt::format("rank {} ({})", hello->rank, hello->who));
      }
    }
    const bool ok = fits.ok();
    if (!ok && came_.contains(hello->rank)) {
      (void)peer.connection->Send(FrameType::kRefuse, Encode(fits), Soon());
      return fits;
    }
    came_.emplace(hello->rank, std::move(peer));
    return fits;
  }

  const Hello& mine_;
  Deadline deadline_;
  std::map<uint32_t, Peer> came_;
};

}  // namespace

void RefuseAll(const std::vector<Peer>& peers, const Status& why) {
  for (const Peer& peer : peers) {
    (void)peer.connection->Send(FrameType::kRefuse, Encode(why), Soon());
  }
}

Result<std::vector<Peer>> GatherPeers(Listener& listener, const Hello& mine,
                                      Deadline deadline) {
  Gathering gathering(mine, deadline);
  const Status status = gathering.Run(listener);
  std::vector<Peer> peers = gathering.Peers();
  if (status.ok()) return peers;
  RefuseAll(peers, status);
  return Fail(status);
}

// ---- The others as members of the crew ----

RemoteCrew::RemoteCrew(std::vector<Peer> peers, Crew& crew)
    : peers_(std::move(peers)), crew_(crew) {
  for (Peer& peer : peers_) {
    peer.connection->SetLimit(kMostBytes);
    readers_.emplace_back([this, &peer] { Read(peer); });
  }
}

RemoteCrew::~RemoteCrew() {
  for (Peer& peer : peers_) peer.connection->Shut();
  for (std::thread& reader : readers_) reader.join();
}

void RemoteCrew::Release() {
  for (Peer& peer : peers_) {
    // One that is gone is noticed by its reader.
    (void)peer.connection->Send(FrameType::kRelease, {}, Soon());
  }
}

void RemoteCrew::Stop(const Status& cause) {
  const Bytes bytes = Encode(cause);
  for (Peer& peer : peers_) {
    // A stopped process takes nothing: it is not waited for.
    (void)peer.connection->Send(FrameType::kAbort, bytes, steady_clock::now());
  }
}

void RemoteCrew::Read(Peer& peer) {
  for (;;) {
    auto frame = peer.connection->Receive(steady_clock::now() + seconds(3600));
    if (frame && !*frame) continue;
    if (!frame) {
      return crew_.TakeEnd(
          peer.rank,
          RankError(fmt::format("rank {} ({}) is gone: {}", peer.rank.value,
                                peer.who, frame.error().message())),
          std::nullopt);
    }
    if (!Take(peer, **frame)) return;
  }
}

bool RemoteCrew::Take(Peer& peer, const Frame& frame) {
  const auto faulty = [&](const Status& status) {
    crew_.TakeEnd(peer.rank,
                  status.WithContext(
                      fmt::format("rank {} ({})", peer.rank.value, peer.who)),
                  std::nullopt);
    return false;
  };
  if (frame.type == FrameType::kPlace) {
    auto place = DecodePlace(frame.bytes);
    if (!place) return faulty(place.error());
    crew_.TakePlace(peer.rank, *place);
    return true;
  }
  if (frame.type == FrameType::kStep) {
    auto step = DecodeStep(frame.bytes);
    if (!step) return faulty(step.error());
    for (int64_t* time : {&step->vm.begin_ns, &step->vm.end_ns, &step->begin_ns,
                          &step->end_ns}) {
      *time += peer.clock_ns;
    }
    crew_.TakeStep(peer.rank, std::move(*step));
    return true;
  }
  if (frame.type != FrameType::kEnd) {
    return faulty(RankError("a message that does not belong here"));
  }
  auto ending = DecodeEnding(frame.bytes);
  if (!ending) return faulty(ending.error());
  for (trace::Event& event : ending->trace) {
    event.begin_ns += peer.clock_ns;
    event.end_ns += peer.clock_ns;
  }
  crew_.traces[peer.rank.value] = std::move(ending->trace);
  crew_.TakeEnd(peer.rank, ending->status, ending->place);
  return false;
}

}  // namespace pp::launch
