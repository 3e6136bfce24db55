#include "runtime/engine/torch/tensor_buffer.h"

#include <ATen/Functions.h>
#include <ATen/ops/from_blob.h>
#include <fmt/core.h>

#include <functional>
#include <memory>
#include <numeric>
#include <utility>

namespace pp::engine::torch_engine {
namespace {

// The deleter of a Buffer's owner: it is what keeps the tensor, and its type
// tells our buffers from a transport's own.
struct TensorKeeper {
  at::Tensor tensor;
  void operator()(void*) const {}
};

bool IsWholeStorage(const at::Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage_offset() == 0 &&
         tensor.storage().nbytes() == tensor.nbytes();
}

}  // namespace

Buffer ToBuffer(const at::Tensor& tensor) {
  at::Tensor kept = tensor.detach();
  if (!IsWholeStorage(kept)) {
    kept = kept.clone(at::MemoryFormat::Contiguous);
  }
  void* data = kept.mutable_data_ptr();
  const size_t bytes = kept.nbytes();
  return {static_cast<std::byte*>(data), bytes,
          std::shared_ptr<void>(data, TensorKeeper{std::move(kept)})};
}

const at::Tensor* TensorOf(const Buffer& buffer) {
  const auto* keeper = std::get_deleter<TensorKeeper>(buffer.owner);
  return keeper == nullptr ? nullptr : &keeper->tensor;
}

Result<at::Tensor> FromBuffer(const Buffer& buffer,
                              const std::vector<int64_t>& shape,
                              std::string_view what) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1},
                                        std::multiplies<>());
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (buffer.data == nullptr || buffer.bytes != bytes) {
    return Fail(InputError(
        fmt::format("{}: got a boundary tensor of {} bytes, expected {}", what,
                    buffer.data == nullptr ? 0 : buffer.bytes, bytes)));
  }
  if (const at::Tensor* tensor = TensorOf(buffer)) return tensor->view(shape);
  return at::from_blob(
      buffer.data, shape, [owner = buffer.owner](void*) {},
      at::TensorOptions(at::kFloat));
}

}  // namespace pp::engine::torch_engine
