// A GPU without a GPU: a device::Driver that keeps virtual time and finds
// races.
//
// Work takes exactly as long as it says, queueing takes no time, and the clock
// of a host thread goes on only where it waits; WaitIdle takes it to the latest
// of all, as ranks meet between steps. Since all that a stream follows has been
// queued before, every time is known when the work is queued. Memory is host
// memory, read and written at that moment.
// Each access is ordered by vector clocks: two accesses of one memory, one of
// them a write, that no chain of streams and events orders are an error of the
// later one, as is an access of freed memory, an event of another device, and a
// stream that follows an event that was never recorded (CUDA would not wait).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/device/driver.h"

namespace pp::test {

class FakeDevice final : public device::Driver {
 public:
  explicit FakeDevice(uint32_t devices = 1);
  ~FakeDevice() override;

  // What runs later than this never ends.
  void StallAfter(int64_t virtual_ns);
  // Each allocation beyond this many bytes on a device fails.
  void LimitMemory(size_t bytes);
  int64_t CopyNsPerByte = 0;

  // ---- What tests ask afterwards ----

  size_t live_objects();  // streams, events and allocations
  size_t allocated_bytes(uint32_t device);
  uint64_t copies();

  // ---- Driver ----

  uint32_t devices() const override { return devices_; }
  std::string Name(uint32_t) const override { return "virtual"; }
  Result<device::Stream> NewStream(uint32_t device) override;
  void Delete(device::Stream stream) override;
  Result<device::Event> NewEvent(uint32_t device) override;
  void Delete(device::Event event) override;
  Status Record(device::Event event, device::Stream stream) override;
  Status Follow(device::Stream stream, device::Event event) override;
  Result<bool> Passed(device::Event event) override;
  Result<bool> WaitFor(device::Event event,
                       std::chrono::microseconds limit) override;
  Result<double> Milliseconds(device::Event from, device::Event to) override;
  int64_t HostNs() override;
  Status Run(device::Stream stream, const device::Spin& spin) override;
  Status Copy(device::Stream stream, std::byte* to, uint32_t to_device,
              const std::byte* from, uint32_t from_device,
              size_t bytes) override;
  Status Add(device::Stream stream, float* to, const float* from,
             size_t count) override;
  Result<std::byte*> Allocate(uint32_t device, size_t bytes) override;
  void Free(uint32_t device, std::byte* memory) override;
  Status Write(uint32_t device, std::byte* to, const void* from,
               size_t bytes) override;
  Status Read(uint32_t device, void* to, const std::byte* from,
              size_t bytes) override;
  void* Native(device::Stream stream) const override { return stream; }

  // For work that another fake queues itself (a transport's): the stream is
  // busy until `end_ns`, having begun when it was free, and touched this.
  int64_t FreeAt(device::Stream stream);
  Status Occupy(device::Stream stream, int64_t end_ns, const std::byte* reads,
                std::byte* writes);
  // `stream` comes after all that `other` has done so far, as if in one kernel.
  void Join(device::Stream stream, device::Stream other);

 private:
  using Clock = std::map<uint64_t, uint64_t>;  // stream id -> its operations
  struct StreamState;
  struct EventState;
  struct Memory;

  StreamState& Of(device::Stream stream);
  EventState& Of(device::Event event);
  struct Host {
    int64_t ns = 1'000'000'000;
    Clock clock;
  };
  Host& ThisThread();
  void Start(StreamState& stream);
  Status Touch(StreamState& stream, const std::byte* at, bool writes,
               uint32_t device);
  Memory* Find(const std::byte* at);
  Status Labelled(StreamState& stream, const device::Spin& spin);

  const uint32_t devices_;
  mutable std::mutex mutex_;
  std::set<std::unique_ptr<StreamState>> streams_;
  std::set<std::unique_ptr<EventState>> events_;
  std::map<const std::byte*, std::unique_ptr<Memory>> memory_;
  uint64_t next_stream_ = 1;
  std::map<std::thread::id, Host> hosts_;
  int64_t stall_after_ = INT64_MAX;
  size_t memory_limit_ = SIZE_MAX;
  uint64_t copies_ = 0;
};

}  // namespace pp::test
