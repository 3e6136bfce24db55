// One kernel and one call each of the CUDA runtime and NCCL. Where there is a
// GPU the kernel runs; without one, that the program starts is the test.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>

__global__ void Double(int* value) { *value *= 2; }

static bool KernelDoubles() {
  int* value = nullptr;
  if (cudaMallocManaged(&value, sizeof *value) != cudaSuccess) return false;
  *value = 21;
  Double<<<1, 1>>>(value);
  const bool done = cudaDeviceSynchronize() == cudaSuccess && *value == 42;
  cudaFree(value);
  return done;
}

int main() {
  int cuda = 0;
  int nccl = 0;
  if (cudaRuntimeGetVersion(&cuda) != cudaSuccess) return 1;
  if (ncclGetVersion(&nccl) != ncclSuccess) return 1;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  std::printf("CUDA %d, NCCL %d, %d device(s)\n", cuda, nccl, devices);
  return devices > 0 && !KernelDoubles() ? 1 : 0;
}
