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
      "bubble {:7.2f} %  {}\n       {:7.2f} %  {}\n       {:7.2f} %  {}\n",
      100 * metrics.bubble_fraction, kBubbleFraction,
      100 * metrics.bubble_overhead, kBubbleOverhead,
      100 * metrics.bubble_longest_stage, kBubbleLongestStage);
}

// The long run of steps without a barrier: of a step's time, what the busiest
// rank does not work.
double Idle(const ir::Metrics& metrics, const ir::Period& period) {
  const double step =
      static_cast<double>(period.time) / static_cast<double>(period.steps);
  const double work = static_cast<double>(metrics.work);
  return step == 0 ? 0 : (step - work) / step;
}

std::string PeriodLine(const ir::Metrics& metrics, const ir::Period& period) {
  const double step = static_cast<double>(period.time) /
                      static_cast<double>(period.steps) /
                      static_cast<double>(ir::kTicksPerUnit);
  return fmt::format(
      "no barrier: a step takes {:.6g} in the long run{}, {:.2f} % of it idle "
      "on the busiest rank\n",
      step,
      period.settled
          ? ""
          : fmt::format(" (average of {}, not yet periodic)", period.steps),
      100 * Idle(metrics, period));
}

std::string RankLines(const Computation& computation,
                      const ir::Metrics& metrics) {
  const ir::Schedule& schedule = computation.schedule;
  std::string text =
      "\nrank      busy      idle  peak activations  messages sent\n";
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const ir::RankMetrics& m = metrics.ranks[r];
    text += fmt::format(
        "{:>4}{:>10}{:>10}{:>18.4g}{:>15}\n", r, ir::PrintTicks(m.busy),
        ir::PrintTicks(metrics.makespan - m.busy),
        m.peak_activations * StageUnits(schedule, r), m.messages_sent);
  }
  return text +
         "\npeak activations: most micro-batches alive at once, from forward "
         "to "
         "the end of\nbackward (W where split), in units of one rank's "
         "layers.\n";
}

std::string MemoryLines(const Computation& computation) {
  if (computation.memory.empty()) return "";
  std::string text =
      "\nrank     weights   gradients   optimizer activations  recv slots"
      "  send slots         sum\n";
  for (size_t r = 0; r < computation.memory.size(); ++r) {
    const ir::RankMemory& m = computation.memory[r];
    text += fmt::format("{:>4}", r);
    for (ir::Bytes bytes : {m.weights, m.gradients, m.optimizer, m.activations,
                            m.receive_slots, m.send_slots, m.Total()}) {
      text += fmt::format("{:>12}", ir::PrintBytes(bytes));
    }
    text += "\n";
  }
  if (computation.models.costs.message == 0) {
    text +=
        "slots count 0: the size of a message is not given "
        "(--cost message=4MiB)\n";
  }
  return text;
}

std::string EdgeLines(const Computation& computation,
                      const ir::Metrics& metrics) {
  const ir::Bytes message = computation.models.costs.message;
  if (message == 0) return "";
  std::string text = "\nfrom  to  messages       bytes\n";
  for (const ir::EdgeMetrics& edge : metrics.edges) {
    text += fmt::format(
        "{:>4}{:>4}{:>10}{:>12}\n", edge.from, edge.to, edge.messages,
        ir::PrintBytes(static_cast<ir::Bytes>(edge.messages) * message));
  }
  return text;
}

Json MemoryJson(const ir::RankMemory& m) {
  return {{"weights", m.weights},
          {"gradients", m.gradients},
          {"optimizer", m.optimizer},
          {"activations", m.activations},
          {"receive_slots", m.receive_slots},
          {"send_slots", m.send_slots}};
}

// Sizes are null where no model of memory or no size of a message is given.
Json RankJson(const Computation& computation, const ir::Metrics& metrics,
              uint32_t rank) {
  const ir::RankMetrics& m = metrics.ranks[rank];
  const auto message = static_cast<uint64_t>(computation.models.costs.message);
  const bool sizes = !computation.memory.empty();
  Json json = {{"rank", rank},
               {"busy", Units(m.busy)},
               {"idle", Units(metrics.makespan - m.busy)},
               {"peak_activations",
                m.peak_activations * StageUnits(computation.schedule, rank)},
               {"peak_bytes", nullptr},
               {"messages_sent", m.messages_sent},
               {"bytes_sent", nullptr}};
  if (sizes) {
    json["peak_bytes"] = computation.memory[rank].Total();
    json["bytes"] = MemoryJson(computation.memory[rank]);
  }
  if (message != 0) json["bytes_sent"] = m.messages_sent * message;
  return json;
}

Json EdgesJson(const Computation& computation, const ir::Metrics& metrics) {
  const auto message = static_cast<uint64_t>(computation.models.costs.message);
  Json edges = Json::array();
  for (const ir::EdgeMetrics& edge : metrics.edges) {
    Json bytes;
    if (message != 0) bytes = edge.messages * message;
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"messages", edge.messages},
                     {"bytes", bytes}});
  }
  return edges;
}

Json CostsJson(const ir::CostModel& costs) {
  Json json = Json::object();
  for (size_t k = 0; k < ir::kOpKinds; ++k) {
    if (costs.known[k]) json[std::string(ir::kOpNames[k])] = Units(costs.op[k]);
  }
  json["comm"] = Units(costs.comm);
  json["unit"] = costs.timed ? Json("ms") : Json();
  json["text"] = ir::Print(costs);
  return json;
}

}  // namespace

std::string Title(const ir::Schedule& schedule) {
  std::string title = schedule.name;
  for (const auto& [name, value] : schedule.params) {
    title += fmt::format(" {}={}", name, value);
  }
  return title;
}

std::string SimulationText(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period) {
  const ir::Schedule& schedule = computation.schedule;
  const ir::CostModel& costs = computation.models.costs;
  const char* unit = costs.timed ? " ms" : "";
  std::string text = fmt::format(
      "{}  (placement {}, costs {})\n\nmakespan {}{}, of it work {}{} a rank "
      "at most; {} messages\n",
      Title(schedule), schedule.placement.text, ir::Print(costs),
      ir::PrintTicks(metrics.makespan), unit, ir::PrintTicks(metrics.work),
      unit, metrics.messages);
  text += BubbleLines(metrics);
  if (period) text += PeriodLine(metrics, *period);
  return text + RankLines(computation, metrics) + MemoryLines(computation) +
         EdgeLines(computation, metrics);
}

std::string SimulationJson(const Computation& computation,
                           const ir::Metrics& metrics,
                           const std::optional<ir::Period>& period) {
  const ir::Schedule& schedule = computation.schedule;
  Json params = Json::object();
  for (const auto& [name, value] : schedule.params) params[name] = value;
  Json ranks = Json::array();
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    ranks.push_back(RankJson(computation, metrics, r));
  }
  Json json = {{"schedule", schedule.name},
               {"P", schedule.ranks},
               {"M", schedule.micro_batches},
               {"params", params},
               {"makespan", Units(metrics.makespan)},
               {"bubble_fraction", metrics.bubble_fraction},
               {"bubble_overhead", metrics.bubble_overhead},
               {"bubble_longest_stage", metrics.bubble_longest_stage},
               {"ranks", ranks},
               {"costs", CostsJson(computation.models.costs)},
               {"edges", EdgesJson(computation, metrics)}};
  if (period) {
    json["period"] = {{"time", Units(period->time)},
                      {"steps", period->steps},
                      {"settled", period->settled},
                      {"bubble_fraction", Idle(metrics, *period)}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pp::driver
