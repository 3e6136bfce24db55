#include "runtime/device/queue.h"

#include <algorithm>

namespace pp::device {

// What owns the memory of a Buffer. It comes to an end on whatever thread drops
// the last copy of the Buffer.
class Queue::Block {
 public:
  Block(std::shared_ptr<Queue> home, Chunk chunk)
      : home_(std::move(home)), chunk_(std::move(chunk)), users_{home_} {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  ~Block() {
    for (const std::shared_ptr<Queue>& user : users_) {
      auto mark = user->Record();
      // A device that cannot record has failed for good: the memory is lost
      // rather than handed out while something may still use it.
      if (!mark) return;
      chunk_.until.push_back(std::move(*mark));
    }
    home_->GiveBack(std::move(chunk_));
  }

  void AddUser(std::shared_ptr<Queue> user) {
    std::lock_guard lock(mutex_);
    if (std::find(users_.begin(), users_.end(), user) == users_.end()) {
      users_.push_back(std::move(user));
    }
  }

 private:
  std::shared_ptr<Queue> home_;
  Chunk chunk_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Queue>> users_;
};

Result<std::shared_ptr<Queue>> Queue::Create(
    const std::shared_ptr<const Timebase>& timebase) {
  std::shared_ptr<Queue> queue(new Queue(std::make_shared<Events>(timebase)));
  PP_ASSIGN_OR_RETURN(queue->compute_, queue->NewStream());
  return queue;
}

Queue::~Queue() {
  for (Chunk& chunk : free_) {
    chunk.until.clear();
    driver().Free(device(), chunk.memory);
  }
  for (Stream stream : streams_) driver().Delete(stream);
}

Result<Stream> Queue::NewStream() {
  PP_ASSIGN_OR_RETURN(const Stream stream, driver().NewStream(device()));
  streams_.push_back(stream);
  return stream;
}

Result<Mark> Queue::Record(Stream stream) {
  PP_ASSIGN_OR_RETURN(const Event event, events_->Take());
  if (Status status = driver().Record(event, stream); !status.ok()) {
    events_->GiveBack(event);
    return Fail(std::move(status));
  }
  return Mark(events_, event);
}

Status Queue::Follow(Stream stream, const Mark& mark) {
  return mark ? driver().Follow(stream, mark.event()) : OkStatus();
}

Status Queue::BeginStep() {
  PP_ASSIGN_OR_RETURN(const Event event, events_->Take());
  Status status = driver().Record(event, compute_);
  if (status.ok()) status = driver().WaitIdle(event);
  if (status.ok()) status = events_->Rebase(event);
  if (!status.ok()) events_->GiveBack(event);
  DropKept();
  return status;
}

void Queue::Close() { kept_.clear(); }

// Whether what is queued on the compute stream from now on may write there. A
// chunk that a peer may still read is left alone: to wait for the peer's turn
// would order the two ranks where their programs do not.
bool Queue::Usable(const Chunk& chunk) const {
  return std::all_of(chunk.until.begin(), chunk.until.end(),
                     [&](const Mark& mark) {
                       if (mark.Of(*events_)) return true;
                       const auto passed = mark.Passed();
                       return passed && *passed;
                     });
}

// Smallest that fits without wasting half: messages come in few sizes.
Result<Queue::Chunk> Queue::TakeChunk(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const bool fits = it->bytes >= bytes && it->bytes <= 2 * bytes;
      const bool better = best == free_.end() || it->bytes < best->bytes;
      if (fits && better && Usable(*it)) best = it;
    }
    if (best != free_.end()) {
      Chunk chunk = std::move(*best);
      free_.erase(best);
      return chunk;
    }
  }
  PP_ASSIGN_OR_RETURN(std::byte* const memory,
                      driver().Allocate(device(), bytes));
  return Chunk{memory, bytes, {}};
}

Result<Buffer> Queue::Allocate(size_t bytes) {
  constexpr size_t kUnit = 512;  // what cudaMalloc aligns to
  const size_t rounded =
      std::max<size_t>(1, (bytes + kUnit - 1) / kUnit) * kUnit;
  PP_ASSIGN_OR_RETURN(Chunk chunk, TakeChunk(rounded));
  chunk.until.clear();
  std::byte* const memory = chunk.memory;
  return Buffer{memory, bytes,
                std::make_shared<Block>(shared_from_this(), std::move(chunk))};
}

void Queue::Use(const Buffer& buffer) {
  static_cast<Block*>(buffer.owner.get())->AddUser(shared_from_this());
}

void Queue::GiveBack(Chunk chunk) {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(chunk));
}

void Queue::KeepUntil(const Mark& mark, Buffer buffer) {
  DropKept();
  kept_.emplace_back(mark, std::move(buffer));
}

void Queue::DropKept() {
  std::erase_if(kept_, [](const auto& kept) {
    const auto passed = kept.first.Passed();
    return passed && *passed;
  });
}

}  // namespace pp::device
