#include "compiler/driver/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/driver/report.h"
#include "compiler/driver/sweep.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace pp::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRows = 100'000;

// "4,8..10" -> 4 8 9 10
Result<std::vector<int64_t>> Numbers(const char* flag,
                                     const std::string& text) {
  std::vector<int64_t> numbers;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',');
  for (llvm::StringRef part : parts) {
    const auto bounds = ParseBounds(part);
    if (!bounds || bounds->second < bounds->first) {
      return Fail(UsageError(fmt::format(
          "{}: `{}` is no number and no range FIRST..LAST", flag, part.str())));
    }
    const auto [begin, end] = *bounds;
    if (static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) >= kMaxRows) {
      return Fail(UsageError(fmt::format("{}: `{}` has more than {} numbers",
                                         flag, part.str(), kMaxRows)));
    }
    for (int64_t n = begin; n <= end; ++n) numbers.push_back(n);
  }
  return numbers;
}

// The values of -D that the schedule has a parameter for.
std::vector<std::pair<std::string, int64_t>> Known(
    const sema::CheckedSchedule& checked, const Options& options) {
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& value : options.values) {
    if (std::find(checked.params.begin(), checked.params.end(), value.first) !=
        checked.params.end()) {
      values.push_back(value);
    }
  }
  return values;
}

// The first error of a refused point, without its place.
std::string Refusal(const diag::Emitter& diag) {
  for (const diag::Diagnostic& d : diag.all()) {
    return d.message;
  }
  return "refused";
}

Result<CompareRow> Row(Session& session, const sema::CheckedSchedule& checked,
                       const Models& models, const expand::Point& point) {
  CompareRow row;
  row.schedule = checked.name;
  row.ranks = point.values[0].second;
  row.micro_batches = point.values[1].second;
  diag::Emitter diag;
  PointResult result =
      CheckPoint(checked, point, models, LimitsOf(session.options), false,
                 session.sources, diag);
  if (result.outcome == PointOutcome::kRefused) {
    row.refused = Refusal(diag);
    return row;
  }
  if (!result.point) {
    session.diag = std::move(diag);
    session.err << fmt::format("ppc: {} at P={} M={}:\n", checked.name,
                               row.ranks, row.micro_batches);
    PP_RETURN_IF_ERROR(result.status);
    return Fail(Diagnosed());
  }
  const ir::Schedule& schedule = result.point->schedule;
  for (const auto& [name, value] : schedule.params) {
    if (name == "P" || name == "M") continue;
    row.parameters +=
        fmt::format("{}{}={}", row.parameters.empty() ? "" : " ", name, value);
  }
  for (const auto& stages : schedule.placement.stage) {
    row.chunks = std::max(row.chunks, static_cast<uint32_t>(stages.size()));
  }
  row.metrics = std::move(result.point->metrics);
  row.formulas =
      expand::EvaluateFormulas(checked, point, row.metrics, models.costs);
  for (const ir::RankMemory& memory : result.point->memory) {
    row.bytes = std::max(row.bytes.value_or(0), memory.Total());
  }
  return row;
}

double Peak(const CompareRow& row) {
  uint32_t peak = 0;
  for (const ir::RankMetrics& rank : row.metrics.ranks) {
    peak = std::max(peak, rank.peak_activations);
  }
  return static_cast<double>(peak) / row.chunks;
}

std::string Ticks(const std::optional<int64_t>& value) {
  return value ? ir::PrintTicks(*value) : "-";
}

std::string Number(const std::optional<int64_t>& value, double scale) {
  return value ? fmt::format("{:.6g}", static_cast<double>(*value) * scale)
               : "-";
}

std::string Line(const CompareRow& row, size_t width) {
  std::string text = fmt::format(
      "{:<{}}{:>4}{:>6}",
      row.schedule + (row.parameters.empty() ? "" : " " + row.parameters),
      width, row.ranks, row.micro_batches);
  if (!row.refused.empty()) return text + "  refused: " + row.refused + "\n";
  const ir::Metrics& m = row.metrics;
  text += fmt::format(
      "{:>11}{:>8.2f}{:>8.2f}{:>8.2f}{:>10}{:>10}{:>8.4g}{:>9}{:>9}{:>9}",
      ir::PrintTicks(m.makespan), 100 * m.bubble_fraction,
      100 * m.bubble_overhead, 100 * m.bubble_longest_stage,
      ir::PrintTicks(m.bubble), Ticks(row.formulas.bubble), Peak(row),
      Number(row.formulas.live, 1.0 / row.chunks), m.messages,
      Number(row.formulas.messages, 1));
  if (row.bytes) text += fmt::format("{:>12}", ir::PrintBytes(*row.bytes));
  return text + "\n";
}

Json OrNull(const std::optional<int64_t>& value, double scale) {
  return value ? Json(static_cast<double>(*value) * scale) : Json();
}

}  // namespace

Result<std::vector<CompareRow>> Compare(Session& session) {
  PP_ASSIGN_OR_RETURN(std::vector<int64_t> ranks,
                      Numbers("--P", session.options.grid_ranks));
  PP_ASSIGN_OR_RETURN(std::vector<int64_t> micro_batches,
                      Numbers("--M", session.options.grid_micro_batches));
  if (ranks.size() * micro_batches.size() * session.options.files.size() >
      kMaxRows) {
    return Fail(UsageError(fmt::format("more than {} points", kMaxRows)));
  }
  std::vector<CompareRow> rows;
  for (const std::string& file : session.options.files) {
    session.options.file = file;
    PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
    PP_ASSIGN_OR_RETURN(Models models, LoadModels(session, &checked));
    const auto others = Known(checked, session.options);
    for (int64_t p : ranks) {
      for (int64_t m : micro_batches) {
        expand::Point point{{{"P", p}, {"M", m}}};
        point.values.insert(point.values.end(), others.begin(), others.end());
        PP_ASSIGN_OR_RETURN(CompareRow row,
                            Row(session, checked, models, point));
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

std::string CompareText(const std::vector<CompareRow>& rows) {
  size_t width = 10;
  bool bytes = false;
  for (const CompareRow& row : rows) {
    width = std::max(width, row.schedule.size() + row.parameters.size() + 2);
    bytes |= row.bytes.has_value();
  }
  std::string text =
      fmt::format("{:<{}}{:>10}{:>11}{:>24}{:>20}{:>17}{:>18}\n", "", width, "",
                  "", "bubble, % (below)   ", "bubble of a rank ",
                  "peak activations", "messages    ");
  text += fmt::format(
      "{:<{}}{:>4}{:>6}{:>11}{:>8}{:>8}{:>8}{:>10}{:>10}{:>8}{:>9}{:>9}{:>9}{}"
      "\n",
      "schedule", width, "P", "M", "makespan", "(1)", "(2)", "(3)", "simulated",
      "formula", "counted", "formula", "counted", "formula",
      bytes ? "       bytes" : "");
  for (const CompareRow& row : rows) text += Line(row, width);
  return text +
         fmt::format("\n(1) {}\n(2) {}\n(3) {}\n", kBubbleFraction,
                     kBubbleOverhead, kBubbleLongestStage) +
         "bubble of a rank: makespan - work, the largest over the ranks; peak "
         "activations: of the\nrank that holds most, in units of one rank's "
         "layers; formula: the `expect` lines of the\nfile, - where it has "
         "none. Costs are of one stage: a rank with v chunks works v times as "
         "long.\n";
}

std::string CompareJson(const std::vector<CompareRow>& rows) {
  constexpr double kUnit = 1.0 / static_cast<double>(ir::kTicksPerUnit);
  Json json = Json::array();
  for (const CompareRow& row : rows) {
    Json out = {{"schedule", row.schedule},
                {"P", row.ranks},
                {"M", row.micro_batches},
                {"parameters", row.parameters}};
    if (!row.refused.empty()) {
      out["refused"] = row.refused;
      json.push_back(std::move(out));
      continue;
    }
    const ir::Metrics& m = row.metrics;
    out["makespan"] = static_cast<double>(m.makespan) * kUnit;
    out["bubble_fraction"] = m.bubble_fraction;
    out["bubble_overhead"] = m.bubble_overhead;
    out["bubble_longest_stage"] = m.bubble_longest_stage;
    out["bubble"] = static_cast<double>(m.bubble) * kUnit;
    out["bubble_formula"] = OrNull(row.formulas.bubble, kUnit);
    out["peak_activations"] = Peak(row);
    out["peak_activations_formula"] =
        OrNull(row.formulas.live, 1.0 / row.chunks);
    out["messages"] = m.messages;
    out["messages_formula"] = OrNull(row.formulas.messages, 1);
    out["peak_bytes"] = row.bytes ? Json(*row.bytes) : Json();
    json.push_back(std::move(out));
  }
  return json.dump(2) + "\n";
}

}  // namespace pp::driver
