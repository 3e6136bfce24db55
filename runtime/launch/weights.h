// The weights of all ranks after a run, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/engine/engine.h"

namespace pp::launch {

struct NamedWeight {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct OwnedWeight {
  NamedWeight weight;
  Rank rank;  // the first that holds it
};
using WeightMap = std::map<std::string, OwnedWeight>;

// With the optimizer's state, or without.
std::vector<NamedWeight> WeightsOf(const engine::Engine& engine,
                                   bool with_state);

// A parameter that several ranks hold (replicas, tied weights) has to be the
// same on all of them, bit for bit. kRankFailed, naming both ranks.
Status AddWeights(Rank rank, std::vector<NamedWeight> weights, WeightMap* all);

// As a safetensors file, without the optimizer's state. kMachine.
Status SaveWeights(const std::string& path, const std::string& model,
                   const WeightMap& weights);

}  // namespace pp::launch
