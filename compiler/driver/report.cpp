#include "compiler/driver/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace pp::driver {
namespace {

using Json = nlohmann::ordered_json;

double Units(ir::Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ir::kTicksPerUnit);
}

// Activations in stage units: a chunk of v counts 1/v.
double StageUnits(const ir::Schedule& schedule, uint32_t rank) {
  size_t chunks = schedule.placement.stage[rank].size();
  return chunks == 0 ? 0 : 1.0 / static_cast<double>(chunks);
}

std::string BubbleLines(const ir::Metrics& metrics) {
  return fmt::format(
      "bubble {:7.2f} %  bubble_fraction: idle / (P x makespan); "
      "(P-1)/(M+P-1) for GPipe\n"
      "       {:7.2f} %  bubble_overhead: idle / work; Megatron-LM's (P-1)/M\n"
      "       {:7.2f} %  bubble_longest_stage: (c - work) / c, c = longest "
      "time from a rank's first to its last operation; Zero Bubble's\n",
      100 * metrics.bubble_fraction, 100 * metrics.bubble_overhead,
      100 * metrics.bubble_longest_stage);
}

Json RankJson(const ir::Schedule& schedule, const ir::Metrics& metrics,
              uint32_t rank) {
  const ir::RankMetrics& m = metrics.ranks[rank];
  return {{"rank", rank},
          {"busy", Units(m.busy)},
          {"idle", Units(metrics.makespan - m.busy)},
          {"peak_activations", m.peak_activations * StageUnits(schedule, rank)},
          {"peak_bytes", nullptr},  // no sizes without a model
          {"messages_sent", m.messages_sent},
          {"bytes_sent", nullptr}};
}

}  // namespace

std::string Title(const ir::Schedule& schedule) {
  std::string title = schedule.name;
  for (const auto& [name, value] : schedule.params) {
    title += fmt::format(" {}={}", name, value);
  }
  return title;
}

std::string SimulationText(const ir::Schedule& schedule,
                           const ir::Metrics& metrics,
                           const ir::CostModel& costs) {
  std::string text = fmt::format(
      "{}  (placement {}, costs {})\n\nmakespan {}, of it work {} a rank at "
      "most; {} messages\n",
      Title(schedule), schedule.placement.text, ir::Print(costs),
      ir::PrintTicks(metrics.makespan),
      ir::PrintTicks(metrics.makespan - metrics.bubble), metrics.messages);
  text += BubbleLines(metrics);
  text += "\nrank      busy      idle  peak activations  messages sent\n";
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const ir::RankMetrics& m = metrics.ranks[r];
    text += fmt::format(
        "{:>4}{:>10}{:>10}{:>18.4g}{:>15}\n", r, ir::PrintTicks(m.busy),
        ir::PrintTicks(metrics.makespan - m.busy),
        m.peak_activations * StageUnits(schedule, r), m.messages_sent);
  }
  text +=
      "\npeak activations: most micro-batches alive at once, from forward to "
      "the end of\nbackward (W where split), in units of one rank's layers.\n";
  return text;
}

std::string SimulationJson(const ir::Schedule& schedule,
                           const ir::Metrics& metrics,
                           const ir::CostModel& costs) {
  Json params = Json::object();
  for (const auto& [name, value] : schedule.params) params[name] = value;
  Json ranks = Json::array();
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    ranks.push_back(RankJson(schedule, metrics, r));
  }
  Json cost = Json::object();
  for (size_t k = 0; k < ir::kOpKinds; ++k) {
    cost[std::string(ir::kOpNames[k])] = Units(costs.op[k]);
  }
  cost["comm"] = Units(costs.comm);
  Json json = {{"schedule", schedule.name},
               {"P", schedule.ranks},
               {"M", schedule.micro_batches},
               {"params", params},
               {"makespan", Units(metrics.makespan)},
               {"bubble_fraction", metrics.bubble_fraction},
               {"bubble_overhead", metrics.bubble_overhead},
               {"bubble_longest_stage", metrics.bubble_longest_stage},
               {"ranks", ranks},
               {"costs", cost}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pp::driver
