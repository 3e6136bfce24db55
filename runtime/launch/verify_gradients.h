// Comparison of a pipelined run with the same model in one process.
//
// After every step, the mean loss and every parameter's gradient on every rank
// are compared with the reference's. A parameter that several ranks hold
// (replicas, tied weights) is compared on each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"

namespace pp::launch {

struct GradientCheck {
  uint64_t steps = 0;
  size_t compared = 0;            // parameters of the model, each step
  size_t elements = 0;            // numbers in them
  double max_abs_diff = 0;        // NaN where one side is not a number
  double max_abs_reference = 0;   // largest gradient, to judge the difference
  bool bitwise_equal = true;      // every gradient of every step
  std::string worst_parameter{};  // where max_abs_diff is; empty: no difference
  uint64_t worst_step = 0;
  double max_loss_diff = 0;
  bool losses_equal = true;  // bit for bit

  // Rounding apart: differences up to a thousandth of the largest gradient
  // come from another order of sums, more is another computation.
  bool Close() const;
};

// Gradients of one step by name: copies, or views while nobody writes.
using GradientMap = std::map<std::string, std::span<const float>>;

// Views into the engine, until its next step.
GradientMap GradientsOf(const engine::Engine& engine);

// Adds one parameter's comparison. kRankFailed when the sizes differ.
Status CompareGradient(const std::string& name, uint64_t step,
                       std::span<const float> got,
                       std::span<const float> reference, GradientCheck* check);

class GradientVerifier {
 public:
  explicit GradientVerifier(std::unique_ptr<engine::Reference> reference)
      : reference_(std::move(reference)) {}

  // The same with the gradients of each rank, by rank.
  Status CompareStep(uint64_t step, double loss,
                     std::span<const GradientMap> ranks);

  // After `step` of all engines, with their mean loss. Runs the reference's
  // step and its update. kRankFailed when a parameter is on no rank, or only
  // on a rank.
  Status CompareStep(uint64_t step, double loss,
                     std::span<engine::Engine* const> engines);

  const GradientCheck& check() const { return check_; }

 private:
  std::unique_ptr<engine::Reference> reference_;
  GradientCheck check_;
};

}  // namespace pp::launch
