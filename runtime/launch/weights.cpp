#include "runtime/launch/weights.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "runtime/weights/safetensors.h"

namespace pp::launch {

std::vector<NamedWeight> WeightsOf(const engine::Engine& engine,
                                   bool with_state) {
  std::vector<NamedWeight> weights;
  const auto take = [&](const engine::WeightView& view) {
    weights.push_back(
        {view.name, view.shape, {view.values.begin(), view.values.end()}});
  };
  engine.VisitWeights(take);
  if (with_state) engine.VisitState(take);
  return weights;
}

Status AddWeights(Rank rank, std::vector<NamedWeight> weights, WeightMap* all) {
  for (NamedWeight& weight : weights) {
    const auto found = all->find(weight.name);
    if (found == all->end()) {
      std::string name = weight.name;
      all->emplace(std::move(name), OwnedWeight{std::move(weight), rank});
      continue;
    }
    const NamedWeight& first = found->second.weight;
    const bool same = first.shape == weight.shape &&
                      first.values.size() == weight.values.size() &&
                      (first.values.empty() ||
                       std::memcmp(first.values.data(), weight.values.data(),
                                   first.values.size() * sizeof(float)) == 0);
    if (same) continue;
    return RankError(
        fmt::format("the copies of {} on ranks {} and {} are no longer the "
                    "same: no weights are saved",
                    weight.name, found->second.rank.value, rank.value));
  }
  return OkStatus();
}

Status SaveWeights(const std::string& path, const std::string& model,
                   const WeightMap& weights) {
  std::vector<weights::TensorView> views;
  for (const auto& [name, owned] : weights) {
    if (name.find(engine::kStateMark) != std::string::npos) continue;
    views.push_back({name, owned.weight.shape, owned.weight.values});
  }
  return weights::Write(path, views, {{"model", model}});
}

}  // namespace pp::launch
