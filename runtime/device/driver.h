// Driver: what this project asks of a GPU's runtime, with errors as values.
//
// The CUDA one is in a shared library that is opened on demand (plugin.h);
// tests bring one that computes in virtual time and finds races. Streams and
// events belong to one device and are made and deleted here; every call may
// come from any thread. Work on one stream runs in the order in which it was
// queued; nothing but WaitFor, Read, Write, Allocate and Free may keep the host
// waiting for the device.
// All failures name the call and its cause. kMachine: no device, no memory, a
// driver that is too old. kRankFailed: the device has stopped on a fault; it
// repeats that from then on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/device/spin.h"

namespace pp::device {

struct StreamObject;
struct EventObject;
using Stream = StreamObject*;
using Event = EventObject*;

// Long for a device that has nothing else to do: one that takes longer is lost.
inline constexpr std::chrono::seconds kIdleLimit{30};

class Driver {
 public:
  virtual ~Driver() = default;

  virtual uint32_t devices() const = 0;  // at least one
  virtual std::string Name(uint32_t device) const = 0;

  // ---- Order ----

  virtual Result<Stream> NewStream(uint32_t device) = 0;
  virtual void Delete(Stream stream) = 0;
  virtual Result<Event> NewEvent(uint32_t device) = 0;
  virtual void Delete(Event event) = 0;
  // `event` is passed when all that is queued on `stream` so far has run.
  virtual Status Record(Event event, Stream stream) = 0;
  // What is queued on `stream` from here on runs after `event`, which must
  // have been recorded; it may be of another device.
  virtual Status Follow(Stream stream, Event event) = 0;
  virtual Result<bool> Passed(Event event) = 0;
  // Until it is passed or the time is over; whether it is passed.
  virtual Result<bool> WaitFor(Event event,
                               std::chrono::microseconds limit) = 0;
  // Between two passed events of one device.
  virtual Result<double> Milliseconds(Event from, Event to) = 0;
  // The host's steady clock, which device times are laid over.
  virtual int64_t HostNs() = 0;

  // ---- Work ----

  virtual Status Run(Stream stream, const Spin& spin) = 0;
  // Between any two devices.
  virtual Status Copy(Stream stream, std::byte* to, uint32_t to_device,
                      const std::byte* from, uint32_t from_device,
                      size_t bytes) = 0;
  // to[i] += from[i], both on the stream's device.
  virtual Status Add(Stream stream, float* to, const float* from,
                     size_t count) = 0;

  // ---- Memory ----

  virtual Result<std::byte*> Allocate(uint32_t device, size_t bytes) = 0;
  virtual void Free(uint32_t device, std::byte* memory) = 0;
  // Between host and device, on return done. Never within a step.
  virtual Status Write(uint32_t device, std::byte* to, const void* from,
                       size_t bytes) = 0;
  virtual Status Read(uint32_t device, void* to, const std::byte* from,
                      size_t bytes) = 0;

  // WaitFor on a device that has nothing else to do; not within kIdleLimit is
  // an error.
  Status WaitIdle(Event event);

  // The runtime's own handle (a cudaStream_t), for libraries that queue work
  // on a stream themselves.
  virtual void* Native(Stream stream) const = 0;
};

}  // namespace pp::device
