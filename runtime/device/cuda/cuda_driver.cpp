#include "runtime/device/cuda/cuda_driver.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "runtime/device/cuda/error.h"
#include "runtime/device/cuda/kernels.h"

namespace pp::device {

struct StreamObject {
  cudaStream_t stream = nullptr;
  int device = 0;
};
struct EventObject {
  cudaEvent_t event = nullptr;
};

namespace cuda {
namespace {

#define PP_CUDA(call, ...) PP_RETURN_IF_ERROR(ErrorOf(#call, call(__VA_ARGS__)))

// The current device belongs to the calling thread, and others (Torch) set it
// as well.
Status Select(uint32_t device) {
  return ErrorOf("cudaSetDevice", cudaSetDevice(static_cast<int>(device)));
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(uint32_t devices) : devices_(devices) {}

  uint32_t devices() const override { return devices_; }

  std::string Name(uint32_t device) const override {
    cudaDeviceProp properties;
    const auto code =
        cudaGetDeviceProperties(&properties, static_cast<int>(device));
    return code == cudaSuccess ? properties.name : "unknown GPU";
  }

  // ---- Order ----

  Result<Stream> NewStream(uint32_t device) override {
    PP_RETURN_IF_ERROR(Select(device));
    auto made = std::make_unique<StreamObject>();
    made->device = static_cast<int>(device);
    // Not held back by the default stream, which others may use.
    PP_CUDA(cudaStreamCreateWithFlags, &made->stream, cudaStreamNonBlocking);
    return made.release();
  }
  void Delete(Stream stream) override {
    (void)cudaStreamDestroy(stream->stream);  // its work still runs to the end
    delete stream;
  }

  Result<Event> NewEvent(uint32_t device) override {
    PP_RETURN_IF_ERROR(Select(device));
    auto made = std::make_unique<EventObject>();
    PP_CUDA(cudaEventCreateWithFlags, &made->event, cudaEventDefault);
    return made.release();
  }
  void Delete(Event event) override {
    (void)cudaEventDestroy(event->event);
    delete event;
  }

  Status Record(Event event, Stream stream) override {
    PP_CUDA(cudaEventRecord, event->event, stream->stream);
    return OkStatus();
  }
  Status Follow(Stream stream, Event event) override {
    PP_CUDA(cudaStreamWaitEvent, stream->stream, event->event, 0);
    return OkStatus();
  }

  Result<bool> Passed(Event event) override {
    const cudaError_t code = cudaEventQuery(event->event);
    if (code == cudaErrorNotReady) return false;
    PP_RETURN_IF_ERROR(ErrorOf("cudaEventQuery", code));
    return true;
  }

  // Asks again and again: cudaEventSynchronize knows no deadline, and a rank
  // whose peer is gone would stay in it for ever.
  Result<bool> WaitFor(Event event, std::chrono::microseconds limit) override {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
      PP_ASSIGN_OR_RETURN(const bool passed, Passed(event));
      if (passed) return true;
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Result<double> Milliseconds(Event from, Event to) override {
    float ms = 0;
    PP_CUDA(cudaEventElapsedTime, &ms, from->event, to->event);
    return ms;
  }

  int64_t HostNs() override {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }

  // ---- Work ----

  Status Run(Stream stream, const Spin& spin) override {
    PP_RETURN_IF_ERROR(Select(static_cast<uint32_t>(stream->device)));
    return ErrorOf("launch of a spin kernel", LaunchSpin(spin, stream->stream));
  }

  Status Copy(Stream stream, std::byte* to, uint32_t to_device,
              const std::byte* from, uint32_t from_device,
              size_t bytes) override {
    PP_RETURN_IF_ERROR(Select(static_cast<uint32_t>(stream->device)));
    if (to_device == from_device) {
      PP_CUDA(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice,
              stream->stream);
    } else {
      PP_CUDA(cudaMemcpyPeerAsync, to, static_cast<int>(to_device), from,
              static_cast<int>(from_device), bytes, stream->stream);
    }
    return OkStatus();
  }

  Status Add(Stream stream, float* to, const float* from,
             size_t count) override {
    PP_RETURN_IF_ERROR(Select(static_cast<uint32_t>(stream->device)));
    return ErrorOf("launch of a sum",
                   LaunchAdd(to, from, count, stream->stream));
  }

  // ---- Memory ----

  Result<std::byte*> Allocate(uint32_t device, size_t bytes) override {
    PP_RETURN_IF_ERROR(Select(device));
    void* memory = nullptr;
    if (Status status = ErrorOf("cudaMalloc", cudaMalloc(&memory, bytes));
        !status.ok()) {
      (void)cudaGetLastError();  // else the next launch reports it
      return Fail(status.WithContext(std::to_string(bytes) + " bytes on GPU " +
                                     std::to_string(device)));
    }
    return static_cast<std::byte*>(memory);
  }
  void Free(uint32_t device, std::byte* memory) override {
    if (Select(device).ok()) (void)cudaFree(memory);
  }

  // On a stream of the thread's own: the default stream would wait for nothing
  // here, and pageable memory is still on its way when cudaMemcpy returns.
  Status Write(uint32_t device, std::byte* to, const void* from,
               size_t bytes) override {
    return Move(device, to, from, bytes, cudaMemcpyHostToDevice);
  }
  Status Read(uint32_t device, void* to, const std::byte* from,
              size_t bytes) override {
    return Move(device, to, from, bytes, cudaMemcpyDeviceToHost);
  }

  void* Native(Stream stream) const override { return stream->stream; }

 private:
  static Status Move(uint32_t device, void* to, const void* from, size_t bytes,
                     cudaMemcpyKind kind) {
    PP_RETURN_IF_ERROR(Select(device));
    PP_CUDA(cudaMemcpyAsync, to, from, bytes, kind, cudaStreamPerThread);
    PP_CUDA(cudaStreamSynchronize, cudaStreamPerThread);
    return OkStatus();
  }

  const uint32_t devices_;
};

// Copies between GPUs go through the host where this is refused: slower, still
// right.
void LetReadEachOther(int device, int devices) {
  for (int peer = 0; peer < devices; ++peer) {
    int can = 0;
    if (peer == device ||
        cudaDeviceCanAccessPeer(&can, device, peer) != cudaSuccess ||
        can == 0) {
      continue;
    }
    (void)cudaDeviceEnablePeerAccess(peer, 0);
  }
  (void)cudaGetLastError();
}

bool HasDriver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

}  // namespace

Result<std::unique_ptr<Driver>> CreateDriver() {
  // As many hardware queues as there may be: with the default of 8, streams of
  // different ranks share one and wait for each other.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices < 1) {
    return Fail(NoGpu(code, HasDriver(), std::getenv("CUDA_VISIBLE_DEVICES")));
  }
  for (int device = 0; device < devices; ++device) {
    PP_RETURN_IF_ERROR(Select(static_cast<uint32_t>(device)));
    PP_RETURN_IF_ERROR(ErrorOf("loading the kernels", LoadKernels()));
    LetReadEachOther(device, devices);
  }
  return std::make_unique<CudaDriver>(static_cast<uint32_t>(devices));
}

}  // namespace cuda
}  // namespace pp::device
