#include "runtime/models/ops.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <array>
#include <utility>

namespace pp::models {
namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;

constexpr double kEpsilon = 1e-5;

at::Tensor Rows(const at::Tensor& x) {  // [..., n] -> [rows, n]
  return x.reshape({-1, x.size(-1)});
}

// What the backward of an operation needs of its input is the value alone:
// a detached alias keeps no graph alive.
struct LinearNode : Node {
  WeightUse* weight = nullptr;
  WeightUse* bias = nullptr;
  WeightTape* tape = nullptr;
  at::Tensor input;

  variable_list apply(variable_list&& grads) override {
    at::Tensor dy = grads[0].contiguous();
    variable_list result(1);
    if (should_compute_output(0)) {
      result[0] = at::matmul(dy, weight->value);
    }
    tape->Add([w = weight, b = bias, x = std::move(input), dy] {
      const at::Tensor rows = Rows(dy);
      w->gradient.addmm_(rows.t(), Rows(x));
      if (b != nullptr) b->gradient.add_(rows.sum(0));
    });
    return result;
  }
  void release_variables() override { input.reset(); }
};

struct LayerNormNode : Node {
  WeightUse* weight = nullptr;
  WeightUse* bias = nullptr;
  WeightTape* tape = nullptr;
  at::Tensor input, mean, rstd;

  variable_list apply(variable_list&& grads) override {
    at::Tensor dy = grads[0].contiguous();
    variable_list result(1);
    if (should_compute_output(0)) {
      result[0] = std::get<0>(Halves(dy, {true, false, false}));
    }
    tape->Add([w = weight, b = bias, x = std::move(input), m = std::move(mean),
               r = std::move(rstd), dy] {
      auto [none, dw, db] = at::native_layer_norm_backward(
          dy, x, w->value.sizes(), m, r, w->value, b->value,
          {false, true, true});
      w->gradient.add_(dw);
      b->gradient.add_(db);
    });
    return result;
  }
  void release_variables() override {
    input.reset();
    mean.reset();
    rstd.reset();
  }

 private:
  std::tuple<at::Tensor, at::Tensor, at::Tensor> Halves(
      const at::Tensor& dy, std::array<bool, 3> which) const {
    return at::native_layer_norm_backward(dy, input, weight->value.sizes(),
                                          mean, rstd, weight->value,
                                          bias->value, which);
  }
};

struct EmbeddingNode : Node {
  WeightUse* table = nullptr;
  WeightUse* positions = nullptr;
  WeightTape* tape = nullptr;
  at::Tensor tokens;

  variable_list apply(variable_list&& grads) override {
    at::Tensor dy = grads[0].contiguous();
    tape->Add([t = table, p = positions, x = std::move(tokens), dy] {
      t->gradient.add_(at::embedding_dense_backward(
          dy, x, t->value.size(0), /*padding_idx=*/-1,
          /*scale_grad_by_freq=*/false));
      p->gradient.narrow(0, 0, x.size(1)).add_(dy.sum(0));
    });
    return {};  // no edge: tokens have no gradient
  }
  void release_variables() override { tokens.reset(); }
};

template <class T>
std::shared_ptr<T> MakeNode() {
  // Torch's deleter unwinds long chains of nodes without recursion.
  return std::shared_ptr<T>(new T(), torch::autograd::deleteNode);
}

// `y` was computed without grad mode; from here on `node` is its history.
at::Tensor Attach(at::Tensor y, const std::shared_ptr<Node>& node) {
  if (at::GradMode::is_enabled()) torch::autograd::set_history(y, node);
  return y;
}

}  // namespace

at::Tensor Linear(const at::Tensor& x, WeightUse* weight, WeightUse* bias,
                  WeightTape& tape) {
  auto node = MakeNode<LinearNode>();
  node->weight = weight;
  node->bias = bias;
  node->tape = &tape;
  node->input = x.detach();
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  at::Tensor y;
  {
    at::NoGradGuard no_grad;
    std::optional<at::Tensor> b;
    if (bias != nullptr) b = bias->value;
    y = at::linear(node->input, weight->value, b);
  }
  return Attach(std::move(y), node);
}

at::Tensor LayerNorm(const at::Tensor& x, WeightUse* weight, WeightUse* bias,
                     WeightTape& tape) {
  auto node = MakeNode<LayerNormNode>();
  node->weight = weight;
  node->bias = bias;
  node->tape = &tape;
  node->input = x.detach();
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  at::Tensor y;
  {
    at::NoGradGuard no_grad;
    std::tie(y, node->mean, node->rstd) =
        at::native_layer_norm(node->input, weight->value.sizes(), weight->value,
                              bias->value, kEpsilon);
  }
  return Attach(std::move(y), node);
}

at::Tensor Embedding(const at::Tensor& tokens, WeightUse* table,
                     WeightUse* positions, WeightTape& tape) {
  auto node = MakeNode<EmbeddingNode>();
  node->table = table;
  node->positions = positions;
  node->tape = &tape;
  node->tokens = tokens;
  at::Tensor y;
  {
    at::NoGradGuard no_grad;
    y = at::embedding(table->value, tokens);
    y.add_(positions->value.narrow(0, 0, tokens.size(1)));
  }
  return Attach(std::move(y), node);
}

}  // namespace pp::models
