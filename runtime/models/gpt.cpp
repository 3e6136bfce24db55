#include "runtime/models/gpt.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "runtime/models/ops.h"
#include "runtime/models/text_data.h"

namespace pp::models {
namespace {

constexpr int64_t kVocabulary = 256;
constexpr double kDeviation = 0.02;

struct Shape {
  int64_t layers, dim, heads, context;
  bool tie;
};

struct Affine {  // a linear layer or a layer norm
  WeightUse* weight = nullptr;
  WeightUse* bias = nullptr;
};

class Block {
 public:
  Block(const Shape& shape, uint32_t index, ParameterStore& store)
      : heads_(shape.heads) {
    const int64_t d = shape.dim;
    const double end = kDeviation / std::sqrt(2.0 * shape.layers);
    const std::string at = fmt::format("blocks.{}.", index);
    ln1_ = MakeNorm(store, at + "ln1", d);
    qkv_ = MakeLinear(store, at + "attn.qkv", d, 3 * d, kDeviation);
    proj_ = MakeLinear(store, at + "attn.proj", d, d, end);
    ln2_ = MakeNorm(store, at + "ln2", d);
    up_ = MakeLinear(store, at + "mlp.up", d, 4 * d, kDeviation);
    down_ = MakeLinear(store, at + "mlp.down", 4 * d, d, end);
  }

  at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const {
    const at::Tensor h =
        x + Attention(LayerNorm(x, ln1_.weight, ln1_.bias, tape), tape);
    at::Tensor m = LayerNorm(h, ln2_.weight, ln2_.bias, tape);
    m = at::gelu(Linear(m, up_.weight, up_.bias, tape));
    return h + Linear(m, down_.weight, down_.bias, tape);
  }

  static Affine MakeNorm(ParameterStore& store, const std::string& name,
                         int64_t dim) {
    return {store.Use({name + ".weight", {dim}, {0, 1}}),
            store.Use({name + ".bias", {dim}, {}})};
  }

 private:
  static Affine MakeLinear(ParameterStore& store, const std::string& name,
                           int64_t in, int64_t out, double deviation) {
    return {store.Use({name + ".weight", {out, in}, {deviation}}),
            store.Use({name + ".bias", {out}, {}})};
  }

  at::Tensor Attention(const at::Tensor& x, WeightTape& tape) const {
    const int64_t rows = x.size(0), time = x.size(1), dim = x.size(2);
    const at::Tensor qkv = Linear(x, qkv_.weight, qkv_.bias, tape);
    std::vector<at::Tensor> parts = qkv.chunk(3, -1);
    for (at::Tensor& part : parts) {
      part = part.view({rows, time, heads_, dim / heads_}).transpose(1, 2);
    }
    const at::Tensor mixed = at::scaled_dot_product_attention(
        parts[0], parts[1], parts[2], std::nullopt, /*dropout_p=*/0.0,
        /*is_causal=*/true);
    return Linear(mixed.transpose(1, 2).reshape({rows, time, dim}),
                  proj_.weight, proj_.bias, tape);
  }

  int64_t heads_;
  Affine ln1_, qkv_, proj_, ln2_, up_, down_;
};

class GptStage : public Stage {
 public:
  GptStage(const Shape& shape, const LayerRange& range, ParameterStore& store)
      : range_(range) {
    const int64_t d = shape.dim;
    if (range.first()) {
      embed_ = store.Use({"embed.weight", {kVocabulary, d}, {kDeviation}});
      positions_ =
          store.Use({"positions.weight", {shape.context, d}, {kDeviation}});
    }
    for (uint32_t i = range.begin; i < range.end; ++i) {
      blocks_.emplace_back(shape, i, store);
    }
    if (range.last()) {
      norm_ = Block::MakeNorm(store, "ln_f", d);
      head_ = store.Use({shape.tie ? "embed.weight" : "head.weight",
                         {kVocabulary, d},
                         {kDeviation}});
    }
  }

  at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const override {
    at::Tensor h = range_.first() ? Embedding(x, embed_, positions_, tape) : x;
    for (const Block& block : blocks_) h = block.Forward(h, tape);
    if (!range_.last()) return h;
    h = LayerNorm(h, norm_.weight, norm_.bias, tape);
    return Linear(h, head_, nullptr, tape);
  }

 private:
  LayerRange range_;
  WeightUse* embed_ = nullptr;
  WeightUse* positions_ = nullptr;
  std::vector<Block> blocks_;
  Affine norm_;
  WeightUse* head_ = nullptr;
};

class Gpt : public Model {
 public:
  Gpt(Shape shape, uint64_t seed, TextData data)
      : shape_(shape), seed_(seed), data_(std::move(data)) {}

  uint32_t Layers() const override {
    return static_cast<uint32_t>(shape_.layers);
  }
  std::unique_ptr<Stage> BuildStage(const LayerRange& range,
                                    ParameterStore& store) const override {
    return std::make_unique<GptStage>(shape_, range, store);
  }
  std::vector<std::string> Tied() const override {
    return shape_.tie ? std::vector<std::string>{"embed.weight"}
                      : std::vector<std::string>{};
  }
  std::vector<int64_t> BoundaryShape(int64_t rows,
                                     uint32_t /*layer*/) const override {
    return {rows, shape_.context, shape_.dim};
  }

  at::Tensor Losses(const at::Tensor& output,
                    const at::Tensor& target) const override {
    return at::cross_entropy_loss(output.view({-1, kVocabulary}),
                                  target.reshape({-1}), {},
                                  at::Reduction::None);
  }
  int64_t UnitsPerRow() const override { return shape_.context; }

  Status CheckBatch(uint32_t rows) const override {
    const uint64_t needed = uint64_t{rows} * shape_.context + 1;
    if (data_.bytes() >= needed) return OkStatus();
    return InputError(fmt::format(
        "data file {} has {} bytes; one batch of {} rows x {} bytes of context "
        "needs at least {}",
        data_.path(), data_.bytes(), rows, shape_.context, needed));
  }
  at::Tensor Input(uint64_t step, uint32_t rows) const override {
    return data_.Windows(seed_, step, rows, shape_.context, 0);
  }
  at::Tensor Target(uint64_t step, uint32_t rows) const override {
    return data_.Windows(seed_, step, rows, shape_.context, 1);
  }

 private:
  Shape shape_;
  uint64_t seed_;
  TextData data_;
};

}  // namespace

Result<std::shared_ptr<const Model>> MakeGpt(const ModelConfig& config) {
  const Shape shape{config.options.Get("layers"), config.options.Get("dim"),
                    config.options.Get("heads"), config.options.Get("context"),
                    config.options.Get("tie") == 1};
  if (shape.dim % shape.heads != 0) {
    return Fail(UsageError(
        fmt::format("model gpt: dim {} is not a multiple of heads {}",
                    shape.dim, shape.heads)));
  }
  if (config.data.empty()) {
    return Fail(
        UsageError("model gpt needs data: give a text file with --data FILE"));
  }
  PP_ASSIGN_OR_RETURN(TextData data, TextData::Load(config.data));
  return std::make_shared<const Gpt>(shape, config.seed, std::move(data));
}

}  // namespace pp::models
