// ParameterStore: the parameters of one rank, by the model's names.
//
// A parameter has one value, however many chunks of the rank use it. Each use
// has a gradient of its own: the share of a tied weight that comes from the
// head is summed apart from the share of the embedding, and the two are added
// once per step. So the order of sums, and with it every bit, is the same
// whether first and last stage share a rank or not.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace pp::models {

// How a parameter starts: normal with this deviation, or a constant.
struct Init {
  double deviation = 0;
  double constant = 0;
};

struct ParameterSpec {
  std::string name;  // the model's: "blocks.3.attn.qkv.weight"
  std::vector<int64_t> shape;
  Init init;
  at::Tensor start{};  // instead of `init`, where defined
};

struct Parameter;

// One chunk's use of a parameter: what a layer holds.
struct WeightUse {
  const Parameter* parameter = nullptr;
  at::Tensor value;     // shared by all uses of the parameter
  at::Tensor gradient;  // of this use; same shape, zero at BeginStep
  size_t chunk = 0;
};

struct Parameter {
  std::string name;
  at::Tensor value;
  std::vector<WeightUse*> uses;  // in the order of the chunks
};

class ParameterStore {
 public:
  // `init`: a file that has all parameters, checked before; null: they start
  // from (seed, name). On the meta device they have shapes only.
  explicit ParameterStore(uint64_t seed, at::Device device = at::kCPU,
                          std::shared_ptr<const weights::File> init = nullptr)
      : seed_(seed), device_(device), init_(std::move(init)) {}

  // Uses made from now on are of this chunk.
  void SetChunk(size_t chunk) { chunk_ = chunk; }
  // The address stays valid as long as the store. A parameter seen for the
  // first time is made and filled.
  WeightUse* Use(const ParameterSpec& spec);

  const std::vector<std::unique_ptr<Parameter>>& parameters() const {
    return parameters_;
  }
  const std::vector<std::unique_ptr<WeightUse>>& uses() const { return uses_; }

 private:
  Parameter* FindOrMake(const ParameterSpec& spec);
  at::Tensor Filled(const ParameterSpec& spec) const;

  uint64_t seed_;
  at::Device device_;
  std::shared_ptr<const weights::File> init_;
  size_t chunk_ = 0;
  std::vector<std::unique_ptr<Parameter>> parameters_;  // order of first use
  std::unordered_map<std::string, Parameter*> by_name_;
  std::vector<std::unique_ptr<WeightUse>> uses_;
};

}  // namespace pp::models
