#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/base/machine.h"
#include "runtime/launch/report.h"

namespace pp::launch {
namespace {

using Json = nlohmann::ordered_json;

// Whole numbers without a point; what is not finite becomes null.
Json Number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json StepsJson(const RunResult& result) {
  Json steps = Json::array();
  for (const StepRecord& step : result.steps) {
    steps.push_back(
        {{"loss", Number(step.loss)}, {"step_time_s", Number(step.seconds)}});
  }
  return steps;
}

Json RankJson(const RankSummary& rank, uint32_t number, double units) {
  return {
      {"rank", number},
      {"busy_s", Number(rank.busy_s)},
      {"idle_s", Number(rank.idle_s)},
      {"peak_activations", Number(rank.peak_activations * units)},
      {"peak_activations_predicted",
       Number(rank.peak_activations_predicted * units)},
      {"peak_activations_chunks", rank.peak_activations},
      {"peak_bytes_measured", rank.memory.peak_measured},
      {"peak_bytes_predicted", rank.memory.peak_predicted},
      {"weight_bytes", rank.memory.weights},
      {"gradient_bytes", rank.memory.gradients},
      {"optimizer_bytes", rank.memory.optimizer},
      {"instructions", rank.instructions},
  };
}

Json RanksJson(const bytecode::Module& module, const RunSummary& summary) {
  Json ranks = Json::array();
  for (uint32_t r = 0; r < summary.ranks.size(); ++r) {
    ranks.push_back(RankJson(summary.ranks[r], r, StageUnitsPerChunk(module)));
  }
  return ranks;
}

Json ParamsJson(const bytecode::Module& module) {
  Json params = Json::object();
  for (const auto& [name, value] : module.facts.params) params[name] = value;
  return params;
}

Json PredictedJson(const bytecode::Facts& facts) {
  return {{"makespan", Number(facts.makespan)},
          {"bubble_fraction", Number(facts.bubble_fraction)},
          {"bubble_overhead", Number(facts.bubble_overhead)},
          {"bubble_longest_stage", Number(facts.bubble_longest_stage)},
          {"costs", facts.costs}};
}

Json MachineJson() {
  const Machine machine = ThisMachine();
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"system", machine.system}};
}

Json GradientsJson(const GradientCheck& check) {
  return {{"compared", check.compared},
          {"max_abs_diff", Number(check.max_abs_diff)},
          {"bitwise_equal", check.bitwise_equal},
          {"elements", check.elements},
          {"steps", check.steps},
          {"max_abs_reference", Number(check.max_abs_reference)},
          {"worst_parameter", check.worst_parameter},
          {"losses_equal", check.losses_equal},
          {"max_loss_diff", Number(check.max_loss_diff)}};
}

Json ModelOptionsJson(const engine::EngineConfig& config) {
  Json options = Json::object();
  for (const auto& [name, value] : config.options) options[name] = value;
  return options;
}

}  // namespace

std::string ReportJson(const bytecode::Module& module, const Options& options,
                       const RunResult& result, const RunSummary& summary) {
  Json report = {
      {"schedule", module.facts.schedule},
      {"P", module.ranks()},
      {"M", module.micro_batches},
      {"params", ParamsJson(module)},
      {"model", options.engine.model},
      {"model_options", ModelOptionsJson(options.engine)},
      {"device", options.engine.device},
      {"transport", options.transport},
      {"seed", options.engine.seed},
      {"steps", StepsJson(result)},
      {"steps_timed", summary.steps_timed},
      {"step_time_s", Number(summary.step_time_s)},
      {"makespan_s", Number(summary.makespan_s)},
      {"makespan_spread", Number(summary.makespan_spread)},
      {"noisy", IsNoisy(summary)},
      {"machine", MachineJson()},
      {"bubble_fraction", Number(summary.bubble_fraction)},
      {"bubble_overhead", Number(summary.bubble_overhead)},
      {"bubble_longest_stage", Number(summary.bubble_longest_stage)},
      {"predicted", PredictedJson(module.facts)},
      {"ranks", RanksJson(module, summary)},
  };
  if (result.gradients) report["gradients"] = GradientsJson(*result.gradients);
  report["ok"] = result.status.ok();
  if (!result.status.ok()) {
    report["error"] = result.status.message();
    report["positions"] = result.positions;
  }
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pp::launch
