// CUDA's codes as Status: the border of this folder.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/base/status.h"

namespace pp::device::cuda {

// "cudaMalloc: out of memory (cudaErrorMemoryAllocation)". kMachine where
// memory, a device or a driver is missing; kRankFailed for all else, which is
// work that went wrong.
Status ErrorOf(const char* call, cudaError_t code);

// Why a process cannot use any GPU, for one who has to mend it. `has_driver`:
// the driver's library can be loaded; `visible`: CUDA_VISIBLE_DEVICES or null.
Status NoGpu(cudaError_t code, bool has_driver, const char* visible);

}  // namespace pp::device::cuda
