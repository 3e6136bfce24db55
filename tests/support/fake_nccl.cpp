#include "tests/support/fake_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace pp::test {

using transport::nccl::Comm;

// One side of a transfer. Under the device's lock once it is launched.
struct FakeNccl::Half {
  bool issued = false;  // by the host; under the lock of FakeNccl
  bool arrived = false;
  int64_t at = 0;
  FakeDevice::Clock clock;
  std::byte* data = nullptr;
  size_t bytes = 0;
};

struct FakeNccl::Pair {
  Half send, recv;
};

struct FakeNccl::World {
  uint32_t ranks = 0;
  uint32_t joined = 0;
  std::vector<uint32_t> names;  // of its members in the run, by number
  struct Edge {
    std::vector<std::shared_ptr<Pair>> pairs;
    size_t sends = 0, recvs = 0;
  };
  std::map<std::pair<uint32_t, uint32_t>, Edge> edges;
  struct SplitRound {
    uint32_t called = 0;
    std::shared_ptr<World> child;
  };
  std::vector<SplitRound> splits;
};

struct FakeNccl::State {
  std::shared_ptr<World> world;
  uint32_t number = 0;  // in the world
  uint32_t name = 0;    // in the run
  size_t index = 0;     // 0: of Init; then one for each split
  size_t splits = 0;
  std::vector<std::shared_ptr<Pair>> unconnected;
  std::shared_ptr<std::atomic<bool>> aborted =
      std::make_shared<std::atomic<bool>>(false);
};

struct FakeNccl::Issued {
  Comm comm;
  device::Stream stream;
  std::shared_ptr<Pair> pair;
  bool is_send;
};

FakeNccl::FakeNccl(std::shared_ptr<FakeDevice> device)
    : device_(std::move(device)) {}
FakeNccl::~FakeNccl() = default;

FakeNccl::State& FakeNccl::Of(Comm comm) const {
  return *reinterpret_cast<State*>(comm);
}

std::vector<std::string> FakeNccl::Calls(uint32_t rank) {
  std::lock_guard lock(mutex_);
  return calls_[rank];
}

size_t FakeNccl::live_communicators() {
  std::lock_guard lock(mutex_);
  return states_.size();
}

uint32_t FakeNccl::aborts() {
  std::lock_guard lock(mutex_);
  return aborts_;
}

// ---- Communicators ----

Result<std::string> FakeNccl::NewId() {
  std::lock_guard lock(mutex_);
  return fmt::format("id {}", ids_++);
}

Comm FakeNccl::Keep(std::unique_ptr<State> state) {
  const auto handle = reinterpret_cast<Comm>(state.get());
  states_.push_back(std::move(state));
  return handle;
}

Result<Comm> FakeNccl::Init(const std::string& id, uint32_t ranks,
                            uint32_t rank, uint32_t) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<World>& world = worlds_[id];
  if (world == nullptr) {
    world = std::make_shared<World>();
    world->ranks = ranks;
    for (uint32_t r = 0; r < ranks; ++r) world->names.push_back(r);
  }
  ++world->joined;
  auto state = std::make_unique<State>();
  state->world = world;
  state->number = state->name = rank;
  return Keep(std::move(state));
}

Result<Comm> FakeNccl::Split(Comm parent, bool takes_part) {
  std::lock_guard lock(mutex_);
  State& from = Of(parent);
  calls_[from.name].push_back(takes_part ? "split" : "split, no part");
  World& world = *from.world;
  const size_t index = from.splits++;
  if (world.splits.size() <= index) world.splits.resize(index + 1);
  World::SplitRound& round = world.splits[index];
  if (round.child == nullptr) round.child = std::make_shared<World>();
  ++round.called;
  if (!takes_part) return nullptr;
  World& child = *round.child;
  ++child.joined;
  child.names.push_back(from.name);
  std::sort(child.names.begin(), child.names.end());
  auto state = std::make_unique<State>();
  state->world = round.child;
  state->name = from.name;
  state->index = index + 1;
  return Keep(std::move(state));
}

Result<bool> FakeNccl::Ready(Comm comm) {
  std::lock_guard lock(mutex_);
  State& state = Of(comm);
  if (state.index == 0 && state.world->joined < state.world->ranks) {
    return false;
  }
  if (state.splits > 0 &&
      state.world->splits[state.splits - 1].called < state.world->ranks) {
    return false;
  }
  std::erase_if(state.unconnected, [](const auto& pair) {
    return pair->send.issued && pair->recv.issued;
  });
  return state.unconnected.empty();
}

void FakeNccl::Forget(Comm comm) {
  std::erase_if(states_, [&](const auto& s) { return s.get() == &Of(comm); });
}

void FakeNccl::Abort(Comm comm) {
  {
    std::lock_guard lock(mutex_);
    ++aborts_;
    Of(comm).aborted->store(true);
    Forget(comm);
  }
  device_->Pump();
}

Status FakeNccl::Finalize(Comm) { return OkStatus(); }

void FakeNccl::Destroy(Comm comm) {
  std::lock_guard lock(mutex_);
  Forget(comm);
}

// ---- Transfers ----

Status FakeNccl::GroupBegin() {
  std::lock_guard lock(mutex_);
  Group& group = groups_[std::this_thread::get_id()];
  if (group.open) return RankError("a group inside a group");
  group.open = true;
  return OkStatus();
}

Status FakeNccl::GroupEnd() {
  std::lock_guard lock(mutex_);
  Group& group = groups_[std::this_thread::get_id()];
  if (!group.open) return RankError("no group is open");
  group.open = false;
  const std::vector<Issued> issued = std::move(group.issued);
  group.issued.clear();
  if (!issued.empty()) calls_[Of(issued[0].comm).name].push_back("end");
  return Launch(issued);
}

Status FakeNccl::Send(Comm comm, const std::byte* data, size_t bytes,
                      uint32_t to, void* stream) {
  return Add(comm, true, data, bytes, to, stream);
}

Status FakeNccl::Recv(Comm comm, std::byte* data, size_t bytes, uint32_t from,
                      void* stream) {
  return Add(comm, false, data, bytes, from, stream);
}

Status FakeNccl::Add(Comm comm, bool is_send, const std::byte* data,
                     size_t bytes, uint32_t peer, void* stream) {
  std::lock_guard lock(mutex_);
  State& state = Of(comm);
  const auto& names = state.world->names;
  state.number = static_cast<uint32_t>(
      std::lower_bound(names.begin(), names.end(), state.name) - names.begin());
  if (peer >= names.size() || peer == state.number) {
    return RankError(fmt::format("nccl: no peer {}", peer));
  }
  World::Edge& edge =
      state.world->edges[is_send ? std::pair(state.number, peer)
                                 : std::pair(peer, state.number)];
  size_t& next = is_send ? edge.sends : edge.recvs;
  if (edge.pairs.size() <= next) edge.pairs.push_back(std::make_shared<Pair>());
  const std::shared_ptr<Pair> pair = edge.pairs[next];
  Half& half = is_send ? pair->send : pair->recv;
  half.data = const_cast<std::byte*>(data);
  half.bytes = bytes;
  if (next++ == 0) state.unconnected.push_back(pair);
  Group& group = groups_[std::this_thread::get_id()];
  auto& calls = calls_[state.name];
  if (group.open && group.issued.empty()) calls.push_back("group");
  calls.push_back(fmt::format("{} c{}{}{}", is_send ? "send" : "recv",
                              state.index, is_send ? '>' : '<', peer));
  Issued issued{comm, static_cast<device::Stream>(stream), pair, is_send};
  if (group.open) {
    group.issued.push_back(std::move(issued));
    return OkStatus();
  }
  return Launch({issued});
}

// One kernel for each communicator. It is over when all its transfers are.
Status FakeNccl::Launch(const std::vector<Issued>& issued) {
  std::map<device::Stream, std::vector<Issued>> kernels;
  for (const Issued& one : issued) {
    kernels[one.stream].push_back(one);
    (one.is_send ? one.pair->send : one.pair->recv).issued = true;
  }
  for (const auto& [stream, parts] : kernels) {
    const auto aborted = Of(parts[0].comm).aborted;
    const int64_t ns = transfer_ns;
    const auto work = [parts, aborted, ns](FakeDevice::Turn& turn) {
      if (aborted->load()) return true;
      bool all = true;
      int64_t at = turn.free_at;
      for (const Issued& part : parts) {
        Half& mine = part.is_send ? part.pair->send : part.pair->recv;
        const Half& other = part.is_send ? part.pair->recv : part.pair->send;
        if (!mine.arrived) {
          turn.Touch(mine.data, !part.is_send);
          mine.arrived = true;
          mine.at = turn.free_at;
          mine.clock = turn.clock;
          turn.progress = true;
          if (other.arrived && mine.bytes != other.bytes) {
            turn.fake.Fail(RankError("nccl: the two sides' sizes differ"));
          } else if (other.arrived) {
            std::memcpy(part.pair->recv.data, part.pair->send.data, mine.bytes);
          }
        }
        all = all && other.arrived;
        at = std::max(at, other.at);
      }
      if (!all) return false;
      turn.free_at = at + ns;
      for (const Issued& part : parts) {
        const Half& other = part.is_send ? part.pair->recv : part.pair->send;
        for (const auto& [id, count] : other.clock) {
          turn.clock[id] = std::max(turn.clock[id], count);
        }
      }
      return true;
    };
    PP_RETURN_IF_ERROR(device_->Enqueue(stream, work));
  }
  return OkStatus();
}

}  // namespace pp::test
