// CUDA's runtime behind driver.h.
#pragma once

#include <memory>

#include "runtime/device/driver.h"

namespace pp::device::cuda {

// kMachine where no GPU can be used: says why. Starts every visible GPU up and
// loads the kernels; lets GPUs read each other where they can.
Result<std::unique_ptr<Driver>> CreateDriver();

}  // namespace pp::device::cuda
