#include "runtime/device/cuda/error.h"

#include <fmt/format.h>

namespace pp::device::cuda {
namespace {

bool IsTheMachines(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
    case cudaErrorInitializationError:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorOperatingSystem:
      return true;
    default:  // an open set: CUDA adds to it
      return false;
  }
}

}  // namespace

Status ErrorOf(const char* call, cudaError_t code) {
  if (code == cudaSuccess) return OkStatus();
  const StatusCode kind =
      IsTheMachines(code) ? StatusCode::kMachine : StatusCode::kRankFailed;
  return {kind, fmt::format("{}: {} ({})", call, cudaGetErrorString(code),
                            cudaGetErrorName(code))};
}

Status NoGpu(cudaError_t code, bool has_driver, const char* visible) {
  if (!has_driver) {
    return MachineError(
        "no NVIDIA driver on this machine: libcuda.so.1 cannot be loaded");
  }
  if (code == cudaSuccess || code == cudaErrorNoDevice) {
    return MachineError(fmt::format(
        "the NVIDIA driver shows no GPU{}",
        visible == nullptr
            ? std::string()
            : fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", visible)));
  }
  return ErrorOf("cudaGetDeviceCount", code);
}

}  // namespace pp::device::cuda
