// Torch on a GPU, through c10's interface to any device: compiled, like all of
// this folder, against a LibTorch with or without its CUDA half.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/queue.h"

namespace pp::engine::torch_engine {

// Opens LibTorch's CUDA half, which this library is not linked to. kMachine
// where it is not installed or cannot be loaded: says what is missing.
Status LoadTorchCuda();

// The GPUs of a run, and the queues of its ranks.
class Gpus {
 public:
  explicit Gpus(std::vector<std::shared_ptr<const device::Timebase>> timebases)
      : timebases_(std::move(timebases)) {}

  // A queue on the GPU of this rank. Queues live as long as this object: the
  // caching allocator still uses the stream of a rank that has ended, when a
  // peer frees what the rank has used. Thread-safe.
  Result<std::shared_ptr<device::Queue>> NewQueue(uint32_t rank);

 private:
  const std::vector<std::shared_ptr<const device::Timebase>> timebases_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<device::Queue>> queues_;
};

// The queue's compute stream as Torch names streams that others have made.
c10::Stream TorchStream(const device::Queue& queue);

// While it lives, Torch's work of this thread goes to the queue. With null, or
// tensors on the CPU, it does nothing.
class StreamScope {
 public:
  StreamScope(const device::Queue* queue, at::Device device);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  std::optional<at::Device> device_before_;
  std::optional<c10::Stream> before_;
};

}  // namespace pp::engine::torch_engine
