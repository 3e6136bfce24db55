// What `simulate` prints, as text for people and as JSON (interfaces: the keys
// and their order are fixed).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/driver/session.h"
#include "compiler/ir/metrics.h"
#include "compiler/ir/schedule.h"

namespace pp::driver {

// The three conventions of a bubble, as they stand beside its numbers.
inline constexpr std::string_view kBubbleFraction =
    "bubble_fraction: idle / (P x makespan); (P-1)/(M+P-1) for GPipe";
inline constexpr std::string_view kBubbleOverhead =
    "bubble_overhead: idle / work; Megatron-LM's (P-1)/M";
inline constexpr std::string_view kBubbleLongestStage =
    "bubble_longest_stage: (c - work) / c, c = longest time from a rank's "
    "first to its last operation; Zero Bubble's";

// "gpipe P=4 M=8".
std::string Title(const ir::Schedule& schedule);

// `period`: what a step takes in the long run, where that was asked for.
std::string SimulationText(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period);
std::string SimulationJson(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period);

}  // namespace pp::driver
