#include "runtime/engine/torch/gpu.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/core.h>

namespace pp::engine::torch_engine {

using c10::impl::VirtualGuardImpl;

Status LoadTorchCuda() {
  if (c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) return OkStatus();
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return MachineError(
        fmt::format("--device cuda: LibTorch's CUDA half cannot be loaded "
                    "(`./setup --cuda` brings it): {}",
                    dlerror()));
  }
  if (c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) return OkStatus();
  return MachineError("--device cuda: this LibTorch knows no CUDA");
}

Result<std::shared_ptr<device::Queue>> Gpus::NewQueue(uint32_t rank) {
  PP_ASSIGN_OR_RETURN(
      auto queue, device::Queue::Create(timebases_[rank % timebases_.size()]));
  std::lock_guard lock(mutex_);
  queues_.push_back(queue);
  return queue;
}

// c10/cuda/CUDAStream.h, getStreamFromExternal: the id of such a stream is its
// cudaStream_t.
c10::Stream TorchStream(const device::Queue& queue) {
  void* const native = queue.driver().Native(queue.compute());
  return c10::Stream(
      c10::Stream::UNSAFE,
      at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(queue.device())),
      reinterpret_cast<c10::StreamId>(native));
}

StreamScope::StreamScope(const device::Queue* queue, at::Device device) {
  if (queue == nullptr || !device.is_cuda()) return;
  const VirtualGuardImpl guard(at::kCUDA);
  device_before_ = guard.exchangeDevice(device);
  before_ = guard.exchangeStream(TorchStream(*queue));
}

StreamScope::~StreamScope() {
  if (!before_) return;
  const VirtualGuardImpl guard(at::kCUDA);
  guard.exchangeStream(*before_);
  guard.uncheckedSetDevice(*device_before_);
}

}  // namespace pp::engine::torch_engine
