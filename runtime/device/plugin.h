// How a program finds a device's driver in a shared library at run time.
//
// `pprun` links no CUDA: it opens `libpp_cuda.so` for --device cuda only. Such
// a library defines both functions; the caller compares PpDeviceAbi() with
// kDeviceAbi before it calls the other one, and owns the driver it gets.
#pragma once

#include "runtime/device/driver.h"

namespace pp::device {

// Count up with each change of driver.h.
inline constexpr const char kDeviceAbi[] = "pp-device 1, " __VERSION__;

}  // namespace pp::device

extern "C" {
const char* PpDeviceAbi();  // kDeviceAbi
// Null where there is no device that can be used; `why` then says so.
pp::device::Driver* PpCreateDriver(pp::Status* why);
}
