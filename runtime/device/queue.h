// Queue: the work of one rank on a device, where calls only queue it.
//
// Engine and transport of a rank share its queue: the engine's work is on the
// compute stream, a transport may make streams of its own; marks order the one
// after the other without the host waiting. The VM reads the device's times
// from marks once a step is over.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/device/mark.h"

namespace pp::device {

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  static Result<std::shared_ptr<Queue>> Create(
      const std::shared_ptr<const Timebase>& timebase);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Driver& driver() const { return events_->driver(); }
  uint32_t device() const { return events_->device(); }
  Stream compute() const { return compute_; }
  Result<Stream> NewStream();  // lives as long as the queue

  // All that is queued on the stream so far.
  Result<Mark> Record(Stream stream);
  Result<Mark> Record() { return Record(compute_); }
  // From here on the stream runs after the mark, which may be another rank's.
  Status Follow(Stream stream, const Mark& mark);
  Status Follow(const Mark& mark) { return Follow(compute_, mark); }

  // Before a step, when all work of the one before has run: takes the clock's
  // zero anew. Waits for the device.
  Status BeginStep();

  // Device memory in the order of the compute stream: usable by what is queued
  // there from now on. `owner` of the Buffer gives it back once the work queued
  // on every user's compute stream until then has run; the host never waits.
  // kMachine: no memory.
  Result<Buffer> Allocate(size_t bytes);
  // `buffer`, made by Allocate of any queue, is used by this one's compute
  // stream as well.
  void Use(const Buffer& buffer);

  // Keeps `buffer` alive until the mark has been passed.
  void KeepUntil(const Mark& mark, Buffer buffer);
  // At the end of the rank's work: drops what is kept, which may hold this
  // queue alive.
  void Close();

 private:
  class Block;
  // Memory that is not in use by the host any more, and may be again by the
  // device once the marks have been passed.
  struct Chunk {
    std::byte* memory;
    size_t bytes;
    std::vector<Mark> until;
  };

  explicit Queue(std::shared_ptr<Events> events) : events_(std::move(events)) {}
  bool Usable(const Chunk& chunk) const;
  Result<Chunk> TakeChunk(size_t bytes);
  void GiveBack(Chunk chunk);
  void DropKept();

  const std::shared_ptr<Events> events_;
  Stream compute_ = nullptr;
  std::vector<Stream> streams_;
  std::mutex mutex_;  // of free_: peers give back from their threads
  std::vector<Chunk> free_;
  std::vector<std::pair<Mark, Buffer>> kept_;
};

}  // namespace pp::device
