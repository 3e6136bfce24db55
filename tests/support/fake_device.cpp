#include "tests/support/fake_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace pp::test {

using device::Event;
using device::Spin;
using device::SpinFault;
using device::Stream;

namespace {

using Clock = std::map<uint64_t, uint64_t>;

void Merge(Clock& into, const Clock& from) {
  for (const auto& [stream, count] : from) {
    into[stream] = std::max(into[stream], count);
  }
}

}  // namespace

struct FakeDevice::StreamState {
  uint64_t id;
  uint32_t device;
  int64_t free_at = 0;
  Clock clock;
};

struct FakeDevice::EventState {
  uint32_t device;
  bool recorded = false;
  int64_t at = 0;
  Clock clock;
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
  std::lock_guard lock(mutex_);
  stall_after_ = virtual_ns;
}

void FakeDevice::LimitMemory(size_t bytes) {
  std::lock_guard lock(mutex_);
  memory_limit_ = bytes;
}

size_t FakeDevice::live_objects() {
  std::lock_guard lock(mutex_);
  return streams_.size() + events_.size() + memory_.size();
}

size_t FakeDevice::allocated_bytes(uint32_t device) {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [at, memory] : memory_) {
    if (memory->device == device) sum += memory->bytes.size();
  }
  return sum;
}

uint64_t FakeDevice::copies() {
  std::lock_guard lock(mutex_);
  return copies_;
}

FakeDevice::StreamState& FakeDevice::Of(Stream stream) {
  return *reinterpret_cast<StreamState*>(stream);
}
FakeDevice::EventState& FakeDevice::Of(Event event) {
  return *reinterpret_cast<EventState*>(event);
}

// ---- Order ----

Result<Stream> FakeDevice::NewStream(uint32_t device) {
  std::lock_guard lock(mutex_);
  auto made = std::make_unique<StreamState>();
  made->id = next_stream_++;
  made->device = device;
  const auto handle = reinterpret_cast<Stream>(made.get());
  streams_.insert(std::move(made));
  return handle;
}

void FakeDevice::Delete(Stream stream) {
  std::lock_guard lock(mutex_);
  std::erase_if(streams_,
                [&](const auto& s) { return s.get() == &Of(stream); });
}

Result<Event> FakeDevice::NewEvent(uint32_t device) {
  std::lock_guard lock(mutex_);
  auto made = std::make_unique<EventState>();
  made->device = device;
  const auto handle = reinterpret_cast<Event>(made.get());
  events_.insert(std::move(made));
  return handle;
}

void FakeDevice::Delete(Event event) {
  std::lock_guard lock(mutex_);
  std::erase_if(events_, [&](const auto& e) { return e.get() == &Of(event); });
}

FakeDevice::Host& FakeDevice::ThisThread() {
  return hosts_[std::this_thread::get_id()];
}

// The stream's next operation: after what this thread has waited for.
void FakeDevice::Start(StreamState& stream) {
  const Host& host = ThisThread();
  Merge(stream.clock, host.clock);
  stream.free_at = std::max(stream.free_at, host.ns);
  ++stream.clock[stream.id];
}

Status FakeDevice::Record(Event event, Stream stream) {
  std::lock_guard lock(mutex_);
  if (Of(event).device != Of(stream).device) {
    return RankError("an event recorded on a stream of another device");
  }
  Start(Of(stream));
  Of(event).recorded = true;
  Of(event).at = Of(stream).free_at;
  Of(event).clock = Of(stream).clock;
  return OkStatus();
}

Status FakeDevice::Follow(Stream stream, Event event) {
  std::lock_guard lock(mutex_);
  if (!Of(event).recorded) {
    return RankError("a stream follows an event that was never recorded");
  }
  Start(Of(stream));
  Merge(Of(stream).clock, Of(event).clock);
  Of(stream).free_at = std::max(Of(stream).free_at, Of(event).at);
  return OkStatus();
}

Result<bool> FakeDevice::Passed(Event event) {
  std::lock_guard lock(mutex_);
  Host& host = ThisThread();
  if (Of(event).at > std::min(host.ns, stall_after_)) return false;
  Merge(host.clock, Of(event).clock);
  return true;
}

Result<bool> FakeDevice::WaitFor(Event event, std::chrono::microseconds limit) {
  {
    std::lock_guard lock(mutex_);
    if (Of(event).at <= stall_after_) {
      Host& host = ThisThread();
      host.ns = std::max(host.ns, Of(event).at);
      Merge(host.clock, Of(event).clock);
      if (limit < device::kIdleLimit) return true;
      for (const auto& [thread, other] : hosts_) {
        host.ns = std::max(host.ns, other.ns);
        Merge(host.clock, other.clock);
      }
      return true;
    }
  }
  std::this_thread::sleep_for(limit);
  return false;
}

Result<double> FakeDevice::Milliseconds(Event from, Event to) {
  std::lock_guard lock(mutex_);
  if (Of(from).device != Of(to).device) {
    return Fail(RankError("the time between events of two devices"));
  }
  if (!Of(from).recorded || !Of(to).recorded) {
    return Fail(RankError("the time of an event that was never recorded"));
  }
  return static_cast<double>(Of(to).at - Of(from).at) / 1e6;
}

int64_t FakeDevice::HostNs() {
  std::lock_guard lock(mutex_);
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

Status FakeDevice::Touch(StreamState& stream, const std::byte* at, bool writes,
                         uint32_t device) {
  if (at == nullptr) return OkStatus();
  Memory* memory = Find(at);
  if (memory == nullptr) return RankError("race: memory that was freed");
  if (memory->device != device) {
    return RankError("memory of another device");
  }
  const auto& [writer, number] = memory->writer;
  if (writer != 0 && stream.clock[writer] < number) {
    return RankError(fmt::format("race: {} what stream {} may still write",
                                 writes ? "writes" : "reads", writer));
  }
  if (!writes) {
    memory->readers[stream.id] = stream.clock[stream.id];
    return OkStatus();
  }
  for (const auto& [reader, count] : memory->readers) {
    if (stream.clock[reader] < count) {
      return RankError(
          fmt::format("race: writes what stream {} may still read", reader));
    }
  }
  memory->writer = {stream.id, stream.clock[stream.id]};
  memory->readers.clear();
  return OkStatus();
}

Status FakeDevice::Labelled(StreamState& stream, const Spin& spin) {
  PP_RETURN_IF_ERROR(Touch(stream, spin.in, false, stream.device));
  PP_RETURN_IF_ERROR(Touch(stream, spin.out, true, stream.device));
  if (spin.in != nullptr &&
      std::memcmp(spin.in, &spin.needs, sizeof spin.needs) != 0 &&
      spin.fault != nullptr && spin.fault->job == 0) {
    spin.fault->job = spin.job;
    std::memcpy(&spin.fault->got, spin.in, sizeof spin.fault->got);
  }
  if (spin.out != nullptr) {
    std::memcpy(spin.out, &spin.gives, sizeof spin.gives);
  }
  return OkStatus();
}

Status FakeDevice::Run(Stream stream, const Spin& spin) {
  std::lock_guard lock(mutex_);
  StreamState& state = Of(stream);
  Start(state);
  PP_RETURN_IF_ERROR(Labelled(state, spin));
  state.free_at += spin.ns;
  return OkStatus();
}

Status FakeDevice::Copy(Stream stream, std::byte* to, uint32_t to_device,
                        const std::byte* from, uint32_t from_device,
                        size_t bytes) {
  std::lock_guard lock(mutex_);
  StreamState& state = Of(stream);
  Start(state);
  PP_RETURN_IF_ERROR(Touch(state, from, false, from_device));
  PP_RETURN_IF_ERROR(Touch(state, to, true, to_device));
  std::memcpy(to, from, bytes);
  state.free_at += static_cast<int64_t>(bytes) * CopyNsPerByte;
  ++copies_;
  return OkStatus();
}

Status FakeDevice::Add(Stream stream, float* to, const float* from,
                       size_t count) {
  std::lock_guard lock(mutex_);
  StreamState& state = Of(stream);
  Start(state);
  const auto* in = reinterpret_cast<const std::byte*>(from);
  auto* out = reinterpret_cast<std::byte*>(to);
  PP_RETURN_IF_ERROR(Touch(state, in, false, state.device));
  PP_RETURN_IF_ERROR(Touch(state, out, true, state.device));
  for (size_t i = 0; i < count; ++i) to[i] += from[i];
  return OkStatus();
}

int64_t FakeDevice::FreeAt(Stream stream) {
  std::lock_guard lock(mutex_);
  return std::max(Of(stream).free_at, ThisThread().ns);
}

Status FakeDevice::Occupy(Stream stream, int64_t end_ns, const std::byte* reads,
                          std::byte* writes) {
  std::lock_guard lock(mutex_);
  StreamState& state = Of(stream);
  Start(state);
  PP_RETURN_IF_ERROR(Touch(state, reads, false, state.device));
  PP_RETURN_IF_ERROR(Touch(state, writes, true, state.device));
  state.free_at = std::max(state.free_at, end_ns);
  return OkStatus();
}

void FakeDevice::Join(Stream stream, Stream other) {
  std::lock_guard lock(mutex_);
  Merge(Of(stream).clock, Of(other).clock);
}

// ---- Memory ----

Result<std::byte*> FakeDevice::Allocate(uint32_t device, size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t used = bytes;
  for (const auto& [at, memory] : memory_) {
    if (memory->device == device) used += memory->bytes.size();
  }
  if (used > memory_limit_) {
    return Fail(MachineError(fmt::format("no {} bytes on the device", bytes)));
  }
  auto made = std::make_unique<Memory>();
  made->device = device;
  made->bytes.resize(std::max<size_t>(bytes, 1));
  std::byte* const at = made->bytes.data();
  memory_[at] = std::move(made);
  return at;
}

void FakeDevice::Free(uint32_t, std::byte* memory) {
  std::lock_guard lock(mutex_);
  memory_.erase(memory);
}

// As cudaMemcpy: the host has waited for everything.
Status FakeDevice::Write(uint32_t device, std::byte* to, const void* from,
                         size_t bytes) {
  std::lock_guard lock(mutex_);
  Memory* memory = Find(to);
  if (memory == nullptr || memory->device != device) {
    return RankError("writes to memory that is not the device's");
  }
  std::memcpy(to, from, bytes);
  return OkStatus();
}

Status FakeDevice::Read(uint32_t device, void* to, const std::byte* from,
                        size_t bytes) {
  std::lock_guard lock(mutex_);
  Memory* memory = Find(from);
  if (memory == nullptr || memory->device != device) {
    return RankError("reads memory that is not the device's");
  }
  std::memcpy(to, from, bytes);
  return OkStatus();
}

}  // namespace pp::test
