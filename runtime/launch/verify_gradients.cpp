#include "runtime/launch/verify_gradients.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <set>

namespace pp::launch {
namespace {

// NaN once, NaN for ever: a maximum that forgets it would hide it.
double MaxOrNan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}

double AbsDiff(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;  // also equal infinities
  return std::abs(a - b);
}

bool SameBits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Views of the reference's gradients: nothing runs it while they are used.
GradientMap ReferenceGradients(const engine::Reference& reference) {
  GradientMap map;
  reference.VisitGradients([&](const engine::GradientView& view) {
    map[view.name] = {view.data, view.count};
  });
  return map;
}

}  // namespace

bool GradientCheck::Close() const {
  return max_abs_diff <= 1e-3 * max_abs_reference || max_abs_diff == 0;
}

Status CompareGradient(const std::string& name, uint64_t step,
                       std::span<const float> got,
                       std::span<const float> reference, GradientCheck* check) {
  if (got.size() != reference.size()) {
    return RankError(
        fmt::format("gradient of {}: {} numbers, the unpipelined run has {}",
                    name, got.size(), reference.size()));
  }
  if (got.empty() ||
      std::memcmp(got.data(), reference.data(), got.size_bytes()) == 0) {
    for (const float value : reference) {
      check->max_abs_reference =
          std::fmax(check->max_abs_reference, std::abs(value));
    }
    return OkStatus();
  }
  check->bitwise_equal = false;
  for (size_t i = 0; i < got.size(); ++i) {
    check->max_abs_reference =
        std::fmax(check->max_abs_reference, std::abs(reference[i]));
    const double diff = AbsDiff(got[i], reference[i]);
    if (diff > check->max_abs_diff ||
        (std::isnan(diff) && !std::isnan(check->max_abs_diff))) {
      check->worst_parameter = name;
      check->worst_step = step;
    }
    check->max_abs_diff = MaxOrNan(check->max_abs_diff, diff);
  }
  return OkStatus();
}

GradientMap GradientsOf(const engine::Engine& engine) {
  GradientMap map;
  engine.VisitGradients([&](const engine::GradientView& view) {
    map[view.name] = {view.data, view.count};
  });
  return map;
}

Status GradientVerifier::CompareStep(uint64_t step, double loss,
                                     std::span<engine::Engine* const> engines) {
  std::vector<GradientMap> ranks;
  for (const engine::Engine* engine : engines) {
    ranks.push_back(GradientsOf(*engine));
  }
  return CompareStep(step, loss, std::span<const GradientMap>(ranks));
}

Status GradientVerifier::CompareStep(uint64_t step, double loss,
                                     std::span<const GradientMap> ranks) {
  PP_ASSIGN_OR_RETURN(const double reference_loss, reference_->Step(step));
  check_.losses_equal &= SameBits(loss, reference_loss);
  check_.max_loss_diff =
      MaxOrNan(check_.max_loss_diff, AbsDiff(loss, reference_loss));
  const GradientMap reference = ReferenceGradients(*reference_);
  std::set<std::string> seen;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [name, values] : ranks[rank]) {
      seen.insert(name);
      const auto found = reference.find(name);
      const Status status =
          found == reference.end()
              ? RankError(name + " is no parameter of the unpipelined run")
              : CompareGradient(name, step, values, found->second, &check_);
      PP_RETURN_IF_ERROR(status.WithContext(fmt::format("rank {}", rank)));
    }
  }
  check_.elements = 0;
  for (const auto& [name, values] : reference) {
    if (!seen.contains(name)) {
      return RankError("the gradient of " + name + " is on no rank");
    }
    check_.elements += values.size();
  }
  check_.compared = reference.size();
  ++check_.steps;
  return reference_->Update();
}

}  // namespace pp::launch
