#include <fmt/format.h>

#include "runtime/launch/report.h"

namespace pp::launch {
namespace {

// "1.5 MiB".
std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// What of the run the medians leave out.
std::string WarmUp(const RunResult& result, const RunSummary& summary) {
  const uint64_t left_out = result.steps.size() - summary.steps_timed;
  if (left_out == 0) return "";
  return left_out == 1 ? ", first one left out"
                       : fmt::format(", first {} left out", left_out);
}

std::string Head(const bytecode::Module& module, const RunResult& result,
                 const RunSummary& summary) {
  std::string params;
  for (const auto& [name, value] : module.facts.params) {
    params += fmt::format("{}{}={}", params.empty() ? "" : " ", name, value);
  }
  return fmt::format(
      "{} ({}): {:.6f} s a step, makespan {:.6f} s (median of {} step{}{}; "
      "spread {:.1f} %)\n",
      module.facts.schedule.empty() ? "schedule" : module.facts.schedule,
      params, summary.step_time_s, summary.makespan_s, summary.steps_timed,
      summary.steps_timed == 1 ? "" : "s", WarmUp(result, summary),
      100 * summary.makespan_spread);
}

std::string Ranks(const bytecode::Module& module, const RunSummary& summary) {
  const double units = StageUnitsPerChunk(module);
  std::string text = fmt::format(
      "{:>4}  {:>10}  {:>10}  {:>20}  {:>20}\n{:>4}  {:>10}  {:>10}  "
      "{:>9} | {:>8}  {:>9} | {:>8}\n",
      "rank", "busy s", "idle s", "peak activations", "peak bytes", "", "", "",
      "predicted", "measured", "predicted", "measured");
  for (size_t r = 0; r < summary.ranks.size(); ++r) {
    const RankSummary& rank = summary.ranks[r];
    text += fmt::format(
        "{:>4}  {:>10.6f}  {:>10.6f}  {:>9.4g} | {:>8.4g}  {:>9} | {:>8}\n", r,
        rank.busy_s, rank.idle_s, rank.peak_activations_predicted * units,
        rank.peak_activations * units, SizeText(rank.memory.peak_predicted),
        SizeText(rank.memory.peak_measured));
  }
  return text;
}

// A measured share that is noise is not shown.
std::string Bubble(std::string_view name, double predicted, double measured,
                   std::string_view meaning, bool noisy) {
  return fmt::format("{:<21} {:>9.2f}% | {:>8}  {}\n", name, 100 * predicted,
                     noisy ? "noisy" : fmt::format("{:.2f}%", 100 * measured),
                     meaning);
}

std::string Noise(const RunSummary& summary) {
  if (!IsNoisy(summary)) return "";
  return fmt::format(
      "NOISY: the middle half of {} steps spreads over {:.0f} % of their "
      "median; run more steps,\n       longer ones, or leave the machine "
      "alone\n",
      summary.steps_timed, 100 * summary.makespan_spread);
}

std::string Bubbles(const bytecode::Facts& facts, const RunSummary& summary) {
  const bool noisy = IsNoisy(summary);
  return fmt::format("{:<21} {:>10} | {:>8}  convention (predicted for {})\n",
                     "bubble", "predicted", "measured",
                     facts.costs.empty() ? "unknown costs" : facts.costs) +
         Bubble("bubble_fraction", facts.bubble_fraction,
                summary.bubble_fraction, trace::kBubbleFractionMeaning, noisy) +
         Bubble("bubble_overhead", facts.bubble_overhead,
                summary.bubble_overhead, trace::kBubbleOverheadMeaning, noisy) +
         Bubble("bubble_longest_stage", facts.bubble_longest_stage,
                summary.bubble_longest_stage, trace::kBubbleLongestStageMeaning,
                noisy);
}

std::string SharedCores(uint32_t ranks, uint32_t cores) {
  if (cores == 0 || ranks <= cores) return "";
  return fmt::format(
      "note: {} ranks share {} core{}; a rank that waits for a core counts as "
      "busy or idle\n      by where it waits, so the measured bubble is not "
      "the schedule's alone\n",
      ranks, cores, cores == 1 ? "" : "s");
}

std::string Mismatches(const RunSummary& summary) {
  std::string text;
  for (const uint32_t r : summary.peak_mismatches) {
    text += fmt::format(
        "WARNING: rank {} held {} activations at once, the compile promised "
        "{}\n",
        r, summary.ranks[r].peak_activations,
        summary.ranks[r].peak_activations_predicted);
  }
  return text;
}

std::string Gradients(const GradientCheck& check) {
  std::string text = fmt::format(
      "gradients: {} parameters ({} numbers) over {} steps, {}", check.compared,
      check.elements, check.steps,
      check.bitwise_equal
          ? "bitwise equal to the unpipelined run"
          : fmt::format("largest difference {:.3g} in {} at step {} (largest "
                        "gradient {:.3g})",
                        check.max_abs_diff, check.worst_parameter,
                        check.worst_step, check.max_abs_reference));
  text += check.losses_equal
              ? "; losses bitwise equal\n"
              : fmt::format("; losses differ by {:.3g} at most\n",
                            check.max_loss_diff);
  return text;
}

}  // namespace

std::string ReportTable(const bytecode::Module& module, const RunResult& result,
                        const RunSummary& summary, uint32_t cores) {
  if (result.steps.empty()) return "";
  std::string text = Head(module, result, summary) + Ranks(module, summary) +
                     Bubbles(module.facts, summary) +
                     SharedCores(module.ranks(), cores) + Noise(summary) +
                     Mismatches(summary);
  if (result.gradients) text += Gradients(*result.gradients);
  return text;
}

}  // namespace pp::launch
