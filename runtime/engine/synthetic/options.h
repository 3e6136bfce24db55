// Options of the synthetic engine, parsed from name=value pairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace pp::engine::synthetic {

// One operation of one rank, for drills: "2:F3".
struct Fault {
  Rank rank;
  char operation = 'F';  // F, B, I, W
  MicroBatch mb;
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct Options {
  int64_t forward = 10'000'000;  // nanoseconds
  int64_t input = 10'000'000;
  int64_t weight = 10'000'000;
  std::optional<int64_t> backward;  // none: input + weight
  uint64_t message = 64;            // bytes
  uint64_t activation = 0;
  std::optional<uint64_t> after_input;  // none: as `activation`
  std::map<uint32_t, double> stage_factor;
  std::optional<Fault> fail;
  std::optional<Fault> hang;

  int64_t BackwardNs() const { return backward.value_or(input + weight); }
  uint64_t AfterInput() const { return after_input.value_or(activation); }
};

// kUsage with the pair, for an unknown name (did you mean) or a bad value.
Result<Options> ParseOptions(
    const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace pp::engine::synthetic
