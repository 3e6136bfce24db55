#include "runtime/device/cuda/kernels.h"

namespace pp::device::cuda {
namespace {

// Nanoseconds; the same for all blocks, and not stretched by clock changes.
__device__ unsigned long long Now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

constexpr int kWords = sizeof(Label) / sizeof(uint64_t);

// volatile: the label was written by another kernel, maybe just now.
__device__ void Compare(const Spin& spin) {
  const auto* got = reinterpret_cast<const volatile uint64_t*>(spin.in);
  const auto* needs = reinterpret_cast<const uint64_t*>(&spin.needs);
  bool same = true;
  for (int i = 0; i < kWords; ++i) same = same && got[i] == needs[i];
  if (same || spin.fault == nullptr) return;
  auto* job = reinterpret_cast<unsigned long long*>(&spin.fault->job);
  if (atomicCAS(job, 0ULL, static_cast<unsigned long long>(spin.job)) != 0) {
    return;
  }
  auto* out = reinterpret_cast<uint64_t*>(&spin.fault->got);
  for (int i = 0; i < kWords; ++i) out[i] = got[i];
}

__global__ void SpinKernel(Spin spin) {
  const unsigned long long begin = Now();
  if (spin.in != nullptr) Compare(spin);
  const auto length = static_cast<unsigned long long>(spin.ns);
  while (true) {
    const unsigned long long gone = Now() - begin;
    if (gone >= length) break;
    // It may sleep for twice as long as asked.
    if (length - gone > 2000) __nanosleep(500);
  }
  if (spin.out == nullptr) return;
  auto* out = reinterpret_cast<volatile uint64_t*>(spin.out);
  const auto* gives = reinterpret_cast<const uint64_t*>(&spin.gives);
  for (int i = 0; i < kWords; ++i) out[i] = gives[i];
}

__global__ void AddKernel(float* to, const float* from, size_t count) {
  const size_t stride = static_cast<size_t>(blockDim.x) * gridDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += stride) {
    to[i] += from[i];
  }
}

}  // namespace

cudaError_t LoadKernels() {
  cudaFuncAttributes attributes;
  const cudaError_t spin = cudaFuncGetAttributes(&attributes, SpinKernel);
  if (spin != cudaSuccess) return spin;
  return cudaFuncGetAttributes(&attributes, AddKernel);
}

cudaError_t LaunchSpin(const Spin& spin, cudaStream_t stream) {
  SpinKernel<<<1, 1, 0, stream>>>(spin);
  return cudaGetLastError();
}

cudaError_t LaunchAdd(float* to, const float* from, size_t count,
                      cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  constexpr size_t kThreads = 256, kMostBlocks = 1024;
  const size_t needed = (count + kThreads - 1) / kThreads;
  const auto blocks =
      static_cast<unsigned>(needed < kMostBlocks ? needed : kMostBlocks);
  AddKernel<<<blocks, kThreads, 0, stream>>>(to, from, count);
  return cudaGetLastError();
}

}  // namespace pp::device::cuda
