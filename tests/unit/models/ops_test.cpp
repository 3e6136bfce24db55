// The split operations against plain autograd: values, input gradients,
// weight gradients; and B against I then W, bit for bit.
#include "runtime/models/ops.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <optional>

namespace pp::models {
namespace {

at::Tensor Noise(std::vector<int64_t> shape, uint64_t seed) {
  ParameterStore store(seed);
  return store.Use({"noise", std::move(shape), {1.0}})->value.clone();
}

void Backward(const at::Tensor& y, const at::Tensor& dy) {
  torch::autograd::backward({y}, {dy});
}

at::Tensor Leaf(const at::Tensor& t) {
  return t.detach().clone().requires_grad_(true);
}

class OpsTest : public ::testing::Test {
 protected:
  using SplitOp = std::function<at::Tensor(const at::Tensor&, WeightTape&)>;

  // Runs forward and the chosen backward; leaves the weight gradients in the
  // uses and returns (y, dx).
  std::pair<at::Tensor, at::Tensor> Run(const SplitOp& op, const at::Tensor& x,
                                        const at::Tensor& dy,
                                        WeightTape::Mode mode) {
    for (const auto& use : store_.uses()) use->gradient.zero_();
    WeightTape tape;
    tape.SetMode(mode);
    at::Tensor leaf = x.is_floating_point() ? Leaf(x) : x;
    const at::Tensor y = op(leaf, tape);
    Backward(y, dy);
    if (mode == WeightTape::Mode::kDefer) {
      EXPECT_EQ(tape.pending(), 1u);
      for (const auto& use : store_.uses()) {
        EXPECT_EQ(use->gradient.abs().sum().item<float>(), 0);
      }
      tape.Run();
    }
    EXPECT_EQ(tape.pending(), 0u);
    return {y.detach(), leaf.grad()};
  }

  // Both ways, the same bits.
  void ExpectHalvesEqualWhole(const SplitOp& op, const at::Tensor& x,
                              const at::Tensor& dy) {
    const auto whole = Run(op, x, dy, WeightTape::Mode::kRunAtOnce);
    std::vector<at::Tensor> gradients;
    for (const auto& use : store_.uses()) {
      gradients.push_back(use->gradient.clone());
    }
    const auto halves = Run(op, x, dy, WeightTape::Mode::kDefer);
    EXPECT_TRUE(whole.first.equal(halves.first));
    if (whole.second.defined()) {
      EXPECT_TRUE(whole.second.equal(halves.second));
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_TRUE(gradients[i].equal(store_.uses()[i]->gradient)) << i;
    }
  }

  ParameterStore store_{7};
};

TEST_F(OpsTest, LinearAgreesWithAutograd) {
  WeightUse* w = store_.Use({"w", {5, 3}, {1.0}});
  WeightUse* b = store_.Use({"b", {5}, {1.0}});
  const auto op = [&](const at::Tensor& x, WeightTape& tape) {
    return Linear(x, w, b, tape);
  };
  const at::Tensor x = Noise({2, 4, 3}, 1), dy = Noise({2, 4, 5}, 2);
  const auto [y, dx] = Run(op, x, dy, WeightTape::Mode::kRunAtOnce);
  const at::Tensor px = Leaf(x), pw = Leaf(w->value), pb = Leaf(b->value);
  const at::Tensor py = at::linear(px, pw, pb);
  Backward(py, dy);
  EXPECT_TRUE(y.equal(py));
  EXPECT_TRUE(at::allclose(dx, px.grad(), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(w->gradient, pw.grad(), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(b->gradient, pb.grad(), 1e-5, 1e-6));
  ExpectHalvesEqualWhole(op, x, dy);
}

TEST_F(OpsTest, LinearWithoutBias) {
  WeightUse* w = store_.Use({"w", {5, 3}, {1.0}});
  const auto op = [&](const at::Tensor& x, WeightTape& tape) {
    return Linear(x, w, nullptr, tape);
  };
  const at::Tensor x = Noise({6, 3}, 1), dy = Noise({6, 5}, 2);
  const auto [y, dx] = Run(op, x, dy, WeightTape::Mode::kRunAtOnce);
  EXPECT_TRUE(at::allclose(y, x.matmul(w->value.t()), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(w->gradient, dy.t().matmul(x), 1e-5, 1e-6));
  ExpectHalvesEqualWhole(op, x, dy);
}

TEST_F(OpsTest, LinearOfDataGivesNoInputGradient) {
  WeightUse* w = store_.Use({"w", {5, 3}, {1.0}});
  WeightTape tape;
  const at::Tensor x = Noise({6, 3}, 1), dy = Noise({6, 5}, 2);
  const at::Tensor y = Linear(x, w, nullptr, tape);
  Backward(y, dy);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(at::allclose(w->gradient, dy.t().matmul(x), 1e-5, 1e-6));
}

TEST_F(OpsTest, LayerNormAgreesWithAutograd) {
  WeightUse* w = store_.Use({"w", {6}, {0.5, 1.0}});
  WeightUse* b = store_.Use({"b", {6}, {1.0}});
  const auto op = [&](const at::Tensor& x, WeightTape& tape) {
    return LayerNorm(x, w, b, tape);
  };
  const at::Tensor x = Noise({2, 4, 6}, 1), dy = Noise({2, 4, 6}, 2);
  const auto [y, dx] = Run(op, x, dy, WeightTape::Mode::kRunAtOnce);
  const at::Tensor px = Leaf(x), pw = Leaf(w->value), pb = Leaf(b->value);
  const at::Tensor py = at::layer_norm(px, {6}, pw, pb, 1e-5);
  Backward(py, dy);
  EXPECT_TRUE(y.equal(py));
  EXPECT_TRUE(at::allclose(dx, px.grad(), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(w->gradient, pw.grad(), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(b->gradient, pb.grad(), 1e-5, 1e-6));
  ExpectHalvesEqualWhole(op, x, dy);
}

TEST_F(OpsTest, EmbeddingAgreesWithAutograd) {
  WeightUse* table = store_.Use({"t", {9, 4}, {1.0}});
  WeightUse* positions = store_.Use({"p", {5, 4}, {1.0}});
  const auto op = [&](const at::Tensor& x, WeightTape& tape) {
    return Embedding(x, table, positions, tape);
  };
  const at::Tensor tokens =
      at::tensor({1, 8, 1, 0, 3, 3}, at::kLong).view({2, 3});
  const at::Tensor dy = Noise({2, 3, 4}, 2);
  const auto [y, none] = Run(op, tokens, dy, WeightTape::Mode::kRunAtOnce);
  const at::Tensor pt = Leaf(table->value), pp = Leaf(positions->value);
  const at::Tensor py = at::embedding(pt, tokens) + pp.narrow(0, 0, 3);
  Backward(py, dy);
  EXPECT_TRUE(y.equal(py));
  EXPECT_TRUE(at::allclose(table->gradient, pt.grad(), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(positions->gradient, pp.grad(), 1e-5, 1e-6));
  ExpectHalvesEqualWhole(op, tokens, dy);
}

TEST_F(OpsTest, GradientsAddUp) {
  WeightUse* w = store_.Use({"w", {5, 3}, {1.0}});
  WeightTape tape;
  const at::Tensor x = Noise({6, 3}, 1), dy = Noise({6, 5}, 2);
  for (int i = 0; i < 3; ++i) Backward(Linear(x, w, nullptr, tape), dy);
  EXPECT_TRUE(at::allclose(w->gradient, dy.t().matmul(x) * 3, 1e-5, 1e-5));
}

// After the input half, what is left alive is the operation's input and
// output gradient: the graph is gone.
TEST_F(OpsTest, DeferredHalfKeepsInputAndGradientOnly) {
  WeightUse* w = store_.Use({"w", {3, 3}, {1.0}});
  WeightTape tape;
  tape.SetMode(WeightTape::Mode::kDefer);
  std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> hidden;
  {
    const at::Tensor leaf = Leaf(Noise({6, 3}, 1));
    const at::Tensor h = Linear(leaf, w, nullptr, tape);
    // sin saves its input h, which no weight half needs.
    hidden = h.storage().getWeakStorageImpl();
    Backward(at::sin(h), Noise({6, 3}, 2));
  }
  EXPECT_EQ(tape.pending(), 1u);
  EXPECT_TRUE(hidden->expired());
}

}  // namespace
}  // namespace pp::models
