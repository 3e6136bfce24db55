// Timed work of the synthetic engine, as a kernel sees it. C++17, so that nvcc
// of any CUDA 12 or 13 compiles it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pp::device {

// What a message of timed work says about itself, in its first bytes.
using Label = std::array<uint64_t, 4>;

// Written by the first operation on a rank that got another message than it
// needs. On the device; zero: none.
struct SpinFault {
  uint64_t job = 0;  // number of the operation, from 1
  Label got{};
};

// An operation of a given duration: compares the label of `in`, lets time
// pass, labels `out`. One block, so that many ranks run beside each other.
struct Spin {
  int64_t ns = 0;
  const std::byte* in = nullptr;  // null: needs nothing
  Label needs{};
  std::byte* out = nullptr;  // null: gives nothing
  Label gives{};
  uint64_t job = 0;
  SpinFault* fault = nullptr;
};

}  // namespace pp::device
