// Boundary tensors as Buffers, and back.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/status.h"

namespace pp::engine::torch_engine {

// A Buffer whose owner keeps the tensor. A tensor that is not contiguous or
// only part of its storage is copied first.
Buffer ToBuffer(const at::Tensor& tensor);

// The tensor that ToBuffer put into `buffer`; null for a foreign buffer.
const at::Tensor* TensorOf(const Buffer& buffer);

// `buffer` seen as a float32 tensor of this shape, without a copy; the result
// keeps the memory alive. kInput when the size is another one: `what` says of
// what ("forward of chunk 0, micro-batch 3").
Result<at::Tensor> FromBuffer(const Buffer& buffer,
                              const std::vector<int64_t>& shape,
                              std::string_view what);

}  // namespace pp::engine::torch_engine
