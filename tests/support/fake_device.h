// A GPU without a GPU: a device::Driver that keeps virtual time and finds
// races.
//
// Work takes exactly as long as it says, queueing takes no time, and the clock
// of a host thread goes on only where it waits. A stream's work runs as soon as
// what it follows has; memory is host memory, read and written then. A fault of
// the work is told by later calls, as by CUDA. Each access is ordered by vector
// clocks: two accesses of one memory, one of them a write, that no chain of
// streams and events orders are an error of the later one, as is an access of
// freed memory, an event of another device, and a stream that follows an event
// that was never recorded (CUDA would not wait). Nothing of a stream that has
// been deleted runs any more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

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
  // All host threads have met, as ranks do between steps: none goes on earlier
  // than the last of them.
  void Meet();

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

  using Clock = std::map<uint64_t, uint64_t>;  // stream id -> its operations

  // A piece of work at the head of its stream.
  struct Turn {
    int64_t& free_at;  // when the stream is free; work moves it on
    Clock& clock;
    uint64_t stream;
    uint32_t device;
    FakeDevice& fake;
    bool& progress;  // set where others may go on though this work cannot
    void Touch(const std::byte* at, bool writes);
  };
  // False: not yet; asked again when anything has changed. It may be asked from
  // any thread, under the device's lock.
  using Work = std::function<bool(Turn&)>;
  Status Enqueue(device::Stream stream, Work work);
  void Pump();  // something outside has changed
  void Fail(const Status& fault);

 private:
  struct Version;
  struct StreamState;
  struct EventState;
  struct Memory;
  struct Host {
    int64_t ns = 1'000'000'000;
    Clock clock;
  };

  StreamState& Of(device::Stream stream) const;
  EventState& Of(device::Event event) const;
  Host& ThisThread();
  Status Push(device::Stream stream, Work work);  // under the lock
  bool RunHead(StreamState& stream, bool* progress);
  void RunAll();
  bool HasPassed(device::Event event, Host* host);
  void TouchLocked(const Turn& turn, const std::byte* at, bool writes);
  Memory* Find(const std::byte* at);

  const uint32_t devices_;
  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<StreamState>> streams_;
  std::set<std::unique_ptr<EventState>> events_;
  std::map<const std::byte*, std::unique_ptr<Memory>> memory_;
  uint64_t next_stream_ = 1;
  std::map<std::thread::id, Host> hosts_;
  Host met_;
  int64_t stall_after_ = INT64_MAX;
  size_t memory_limit_ = SIZE_MAX;
  uint64_t copies_ = 0;
  Status fault_;
};

}  // namespace pp::test
