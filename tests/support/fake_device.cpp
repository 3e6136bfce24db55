#include "tests/support/fake_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace pp::test {

using device::Event;
using device::Spin;
using device::SpinFault;
using device::Stream;

namespace {

using Clock = FakeDevice::Clock;
using Lock = std::lock_guard<std::recursive_mutex>;

void Merge(Clock& into, const Clock& from) {
  for (const auto& [stream, count] : from) {
    into[stream] = std::max(into[stream], count);
  }
}

}  // namespace

// One recording of an event.
struct FakeDevice::Version {
  bool reached = false;
  int64_t at = 0;
  Clock clock;
};

struct FakeDevice::StreamState {
  struct Item {
    int64_t queued_ns;  // by the host
    Clock queued_clock;
    Work work;
  };
  uint64_t id;
  uint32_t device;
  int64_t free_at = 0;
  Clock clock;
  std::deque<Item> items;
};

struct FakeDevice::EventState {
  uint32_t device;
  std::shared_ptr<Version> version;  // null: never recorded
};

struct FakeDevice::Memory {
  uint32_t device;
  std::vector<std::byte> bytes;
  std::pair<uint64_t, uint64_t> writer{0, 0};  // stream, its operation
  Clock readers;
};

FakeDevice::FakeDevice(uint32_t devices) : devices_(devices) {}
FakeDevice::~FakeDevice() = default;

void FakeDevice::StallAfter(int64_t virtual_ns) {
  Lock lock(mutex_);
  stall_after_ = virtual_ns;
}

void FakeDevice::LimitMemory(size_t bytes) {
  Lock lock(mutex_);
  memory_limit_ = bytes;
}

size_t FakeDevice::live_objects() {
  Lock lock(mutex_);
  return streams_.size() + events_.size() + memory_.size();
}

size_t FakeDevice::allocated_bytes(uint32_t device) {
  Lock lock(mutex_);
  size_t sum = 0;
  for (const auto& [at, memory] : memory_) {
    if (memory->device == device) sum += memory->bytes.size();
  }
  return sum;
}

uint64_t FakeDevice::copies() {
  Lock lock(mutex_);
  return copies_;
}

FakeDevice::StreamState& FakeDevice::Of(Stream stream) const {
  return *reinterpret_cast<StreamState*>(stream);
}
FakeDevice::EventState& FakeDevice::Of(Event event) const {
  return *reinterpret_cast<EventState*>(event);
}

FakeDevice::Host& FakeDevice::ThisThread() {
  Host& host = hosts_[std::this_thread::get_id()];
  host.ns = std::max(host.ns, met_.ns);
  Merge(host.clock, met_.clock);
  return host;
}

void FakeDevice::Meet() {
  Lock lock(mutex_);
  for (const auto& [thread, host] : hosts_) {
    met_.ns = std::max(met_.ns, host.ns);
    Merge(met_.clock, host.clock);
  }
}

void FakeDevice::Fail(const Status& fault) {
  Lock lock(mutex_);
  if (fault_.ok()) fault_ = fault;
}

// ---- Order ----

Result<Stream> FakeDevice::NewStream(uint32_t device) {
  Lock lock(mutex_);
  auto made = std::make_unique<StreamState>();
  made->id = next_stream_++;
  made->device = device;
  const auto handle = reinterpret_cast<Stream>(made.get());
  streams_.push_back(std::move(made));
  return handle;
}

void FakeDevice::Delete(Stream stream) {
  Lock lock(mutex_);
  std::erase_if(streams_,
                [&](const auto& s) { return s.get() == &Of(stream); });
}

Result<Event> FakeDevice::NewEvent(uint32_t device) {
  Lock lock(mutex_);
  auto made = std::make_unique<EventState>();
  made->device = device;
  const auto handle = reinterpret_cast<Event>(made.get());
  events_.insert(std::move(made));
  return handle;
}

void FakeDevice::Delete(Event event) {
  Lock lock(mutex_);
  std::erase_if(events_, [&](const auto& e) { return e.get() == &Of(event); });
}

Status FakeDevice::Push(Stream stream, Work work) {
  PP_RETURN_IF_ERROR(fault_);
  const Host& host = ThisThread();
  Of(stream).items.push_back({host.ns, host.clock, std::move(work)});
  RunAll();
  return OkStatus();
}

Status FakeDevice::Enqueue(Stream stream, Work work) {
  Lock lock(mutex_);
  return Push(stream, std::move(work));
}

void FakeDevice::Pump() {
  Lock lock(mutex_);
  RunAll();
}

// Whether the head could run: after what its thread had waited for.
bool FakeDevice::RunHead(StreamState& stream, bool* progress) {
  if (stream.items.empty() || !fault_.ok()) return false;
  const StreamState::Item& item = stream.items.front();
  int64_t free_at = std::max(stream.free_at, item.queued_ns);
  Clock clock = stream.clock;
  Merge(clock, item.queued_clock);
  ++clock[stream.id];
  Turn turn{free_at, clock, stream.id, stream.device, *this, *progress};
  if (!item.work(turn)) return false;
  stream.free_at = free_at;
  stream.clock = std::move(clock);
  stream.items.pop_front();
  return true;
}

void FakeDevice::RunAll() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& stream : streams_) {
      while (RunHead(*stream, &moved)) moved = true;
    }
  }
}

Status FakeDevice::Record(Event event, Stream stream) {
  Lock lock(mutex_);
  if (Of(event).device != Of(stream).device) {
    return RankError("an event recorded on a stream of another device");
  }
  auto version = std::make_shared<Version>();
  Of(event).version = version;
  return Push(stream, [version](Turn& turn) {
    *version = {true, turn.free_at, turn.clock};
    return true;
  });
}

Status FakeDevice::Follow(Stream stream, Event event) {
  Lock lock(mutex_);
  if (Of(event).version == nullptr) {
    return RankError("a stream follows an event that was never recorded");
  }
  return Push(stream, [version = Of(event).version](Turn& turn) {
    if (!version->reached) return false;
    Merge(turn.clock, version->clock);
    turn.free_at = std::max(turn.free_at, version->at);
    return true;
  });
}

bool FakeDevice::HasPassed(Event event, Host* host) {
  const auto& version = Of(event).version;
  if (version == nullptr) return true;  // as CUDA has it
  if (!version->reached || version->at > std::min(host->ns, stall_after_)) {
    return false;
  }
  Merge(host->clock, version->clock);
  return true;
}

Result<bool> FakeDevice::Passed(Event event) {
  Lock lock(mutex_);
  PP_RETURN_IF_ERROR(fault_);
  return HasPassed(event, &ThisThread());
}

Result<bool> FakeDevice::WaitFor(Event event, std::chrono::microseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  do {
    {
      Lock lock(mutex_);
      PP_RETURN_IF_ERROR(fault_);
      Host& host = ThisThread();
      const auto& version = Of(event).version;
      if (version != nullptr && version->reached &&
          version->at <= stall_after_) {
        host.ns = std::max(host.ns, version->at);
      }
      if (HasPassed(event, &host)) {
        return true;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

Result<double> FakeDevice::Milliseconds(Event from, Event to) {
  Lock lock(mutex_);
  if (Of(from).device != Of(to).device) {
    return pp::Fail(RankError("the time between events of two devices"));
  }
  for (Event event : {from, to}) {
    const auto& version = Of(event).version;
    if (version == nullptr || !version->reached) {
      return pp::Fail(RankError("the time of an event that is not passed"));
    }
  }
  return static_cast<double>(Of(to).version->at - Of(from).version->at) / 1e6;
}

int64_t FakeDevice::HostNs() {
  Lock lock(mutex_);
  return ThisThread().ns;
}

// ---- Work ----

FakeDevice::Memory* FakeDevice::Find(const std::byte* at) {
  auto it = memory_.upper_bound(at);
  if (it == memory_.begin()) return nullptr;
  --it;
  const Memory& memory = *it->second;
  return at < it->first + memory.bytes.size() ? it->second.get() : nullptr;
}

void FakeDevice::Turn::Touch(const std::byte* at, bool writes) {
  fake.TouchLocked(*this, at, writes);
}

void FakeDevice::TouchLocked(const Turn& turn, const std::byte* at,
                             bool writes) {
  if (at == nullptr) return;
  Memory* memory = Find(at);
  if (memory == nullptr) {
    return Fail(RankError("race: memory that was freed"));
  }
  const auto after = [&](uint64_t stream, uint64_t number) {
    const auto it = turn.clock.find(stream);
    return it != turn.clock.end() && it->second >= number;
  };
  const auto [writer, number] = memory->writer;
  if (writer != 0 && !after(writer, number)) {
    Fail(RankError(fmt::format("race: {} what stream {} may still write",
                               writes ? "writes" : "reads", writer)));
  }
  const uint64_t self = turn.stream;
  if (!writes) {
    memory->readers[self] = turn.clock.at(self);
    return;
  }
  for (const auto& [reader, count] : memory->readers) {
    if (!after(reader, count)) {
      Fail(RankError(
          fmt::format("race: writes what stream {} may still read", reader)));
    }
  }
  memory->writer = {self, turn.clock.at(self)};
  memory->readers.clear();
}

Status FakeDevice::Run(Stream stream, const Spin& spin) {
  return Enqueue(stream, [spin](Turn& turn) {
    turn.Touch(spin.in, false);
    turn.Touch(spin.out, true);
    if (!turn.fake.fault_.ok()) return true;
    if (spin.in != nullptr &&
        std::memcmp(spin.in, &spin.needs, sizeof spin.needs) != 0 &&
        spin.fault != nullptr && spin.fault->job == 0) {
      spin.fault->job = spin.job;
      std::memcpy(&spin.fault->got, spin.in, sizeof spin.fault->got);
    }
    if (spin.out != nullptr) {
      std::memcpy(spin.out, &spin.gives, sizeof spin.gives);
    }
    turn.free_at += spin.ns;
    return true;
  });
}

Status FakeDevice::Copy(Stream stream, std::byte* to, uint32_t,
                        const std::byte* from, uint32_t, size_t bytes) {
  return Enqueue(stream, [=](Turn& turn) {
    turn.Touch(from, false);
    turn.Touch(to, true);
    if (!turn.fake.fault_.ok()) return true;
    std::memcpy(to, from, bytes);
    turn.free_at += static_cast<int64_t>(bytes) * turn.fake.CopyNsPerByte;
    ++turn.fake.copies_;
    return true;
  });
}

Status FakeDevice::Add(Stream stream, float* to, const float* from,
                       size_t count) {
  return Enqueue(stream, [=](Turn& turn) {
    turn.Touch(reinterpret_cast<const std::byte*>(from), false);
    turn.Touch(reinterpret_cast<std::byte*>(to), true);
    if (!turn.fake.fault_.ok()) return true;
    for (size_t i = 0; i < count; ++i) to[i] += from[i];
    return true;
  });
}

// ---- Memory ----

Result<std::byte*> FakeDevice::Allocate(uint32_t device, size_t bytes) {
  Lock lock(mutex_);
  size_t used = bytes;
  for (const auto& [at, memory] : memory_) {
    if (memory->device == device) used += memory->bytes.size();
  }
  if (used > memory_limit_) {
    return pp::Fail(
        MachineError(fmt::format("no {} bytes on the device", bytes)));
  }
  auto made = std::make_unique<Memory>();
  made->device = device;
  made->bytes.resize(std::max<size_t>(bytes, 1));
  std::byte* const at = made->bytes.data();
  memory_[at] = std::move(made);
  return at;
}

void FakeDevice::Free(uint32_t, std::byte* memory) {
  Lock lock(mutex_);
  memory_.erase(memory);
}

// As cudaMemcpy: the host has waited for everything.
Status FakeDevice::Write(uint32_t device, std::byte* to, const void* from,
                         size_t bytes) {
  Lock lock(mutex_);
  Memory* memory = Find(to);
  if (memory == nullptr || memory->device != device) {
    return RankError("writes to memory that is not the device's");
  }
  std::memcpy(to, from, bytes);
  return OkStatus();
}

Status FakeDevice::Read(uint32_t device, void* to, const std::byte* from,
                        size_t bytes) {
  Lock lock(mutex_);
  Memory* memory = Find(from);
  if (memory == nullptr || memory->device != device) {
    return RankError("reads memory that is not the device's");
  }
  std::memcpy(to, from, bytes);
  return OkStatus();
}

}  // namespace pp::test
