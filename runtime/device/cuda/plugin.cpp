// What pprun looks for in libpp_cuda.so (runtime/device/plugin.h).
#include "runtime/device/plugin.h"

#include "runtime/device/cuda/cuda_driver.h"

#define PP_EXPORT __attribute__((visibility("default")))

extern "C" {
PP_EXPORT const char* PpDeviceAbi() { return pp::device::kDeviceAbi; }
PP_EXPORT pp::device::Driver* PpCreateDriver(pp::Status* why) {
  auto driver = pp::device::cuda::CreateDriver();
  if (driver) return driver->release();
  *why = driver.error();
  return nullptr;
}
}
