// The kernels, as functions that queue them. Each returns what the launch did.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/spin.h"

namespace pp::device::cuda {

// On the current device: a kernel that is loaded while others spin would wait
// for them.
cudaError_t LoadKernels();

cudaError_t LaunchSpin(const Spin& spin, cudaStream_t stream);
// to[i] += from[i]
cudaError_t LaunchAdd(float* to, const float* from, size_t count,
                      cudaStream_t stream);

}  // namespace pp::device::cuda
