#include "compiler/driver/session.h"

#include <fmt/format.h>

#include "compiler/analysis/memory.h"
#include "compiler/analysis/simulate.h"
#include "compiler/check/check.h"
#include "compiler/driver/lift.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/cost_file.h"
#include "compiler/ir/cost_text.h"
#include "compiler/ir/quantity.h"
#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "compiler/table/table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "runtime/base/edit_distance.h"
#include "runtime/base/file_io.h"
#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"

namespace pp::driver {
namespace {

constexpr const char* kDiagnosed = "see the diagnostics";

std::string Names(const std::vector<sema::CheckedSchedule>& schedules) {
  std::string names;
  for (const sema::CheckedSchedule& schedule : schedules) {
    names += (names.empty() ? "`" : ", `") + schedule.name + "`";
  }
  return names;
}

Result<sema::CheckedSchedule> Pick(
    const Session& session, std::vector<sema::CheckedSchedule> schedules) {
  const Options& options = session.options;
  if (options.schedule.empty() && schedules.size() == 1) {
    return std::move(schedules.front());
  }
  for (sema::CheckedSchedule& schedule : schedules) {
    if (schedule.name == options.schedule) return std::move(schedule);
  }
  if (options.schedule.empty() && !schedules.empty()) {
    return Fail(UsageError(
        fmt::format("{} holds several schedules: choose one with --schedule: "
                    "{}",
                    options.file, Names(schedules))));
  }
  if (schedules.empty()) {
    return Fail(
        InputError(fmt::format("{} declares no schedule", options.file)));
  }
  return Fail(
      UsageError(fmt::format("{} has no schedule `{}`, but {}", options.file,
                             options.schedule, Names(schedules))));
}

// The result of the emission is what its bytes say when read again: the gate
// judges what will be run, not what was meant.
Status Emit(bytecode::Module module, const ir::CostModel& costs,
            const source::SourceManager& sources, CheckedPoint& point) {
  emit::FillFacts(module, point.schedule, point.metrics, costs, sources);
  PP_ASSIGN_OR_RETURN(point.bytes, bytecode::Write(module));
  PP_ASSIGN_OR_RETURN(point.module, bytecode::Read(point.bytes));
  return bytecode::Verify(point.module)
      .WithContext(fmt::format("internal error: `{}` was lowered wrongly",
                               point.schedule.name));
}

// Whatever is simulated has its costs, and ends before the clock does.
Status CheckModels(const Models& models, const ir::Schedule& schedule) {
  PP_RETURN_IF_ERROR(ir::CheckCovers(models.costs, schedule));
  return ir::CheckClockFits(models.costs, ir::CountOperations(schedule));
}

}  // namespace

Status Diagnosed() { return InputError(kDiagnosed); }

bool IsDiagnosed(const Status& status) {
  return status.code() == StatusCode::kInput && status.message() == kDiagnosed;
}

bool EndsWith(const std::string& text, const std::string& suffix) {
  return llvm::StringRef(text).endswith(suffix);
}

expand::Point PointOf(const Options& options) { return {options.values}; }

expand::Options LimitsOf(const Options& options) {
  expand::Options limits;
  if (options.max_ops != 0) limits.max_ops = options.max_ops;
  return limits;
}

// Reads a block of the schedule where the command line gave nothing.
template <class Model>
Status ReadBlock(const std::optional<sema::Quantities>& block,
                 tl::expected<Model, ir::TextFault> (*read)(std::string_view),
                 std::optional<Model>& model, diag::Emitter& diag) {
  if (!block || model) return OkStatus();
  auto result = read(block->text);
  if (result) {
    model = std::move(*result);
    return OkStatus();
  }
  const auto at = block->span.begin + static_cast<uint32_t>(result.error().at);
  diag.Emit(diag::Code::kBadQuantity,
            source::Span{block->span.file, at, at + 1}, result.error().what);
  return Diagnosed();
}

Result<Models> LoadModels(Session& session,
                          const sema::CheckedSchedule* checked) {
  const Options& options = session.options;
  ir::CostFile given;
  if (EndsWith(options.costs, ".json")) {
    PP_ASSIGN_OR_RETURN(std::string text, ReadTextFile(options.costs));
    PP_ASSIGN_OR_RETURN(given, ir::ParseCostFile(text, options.costs));
  } else if (!options.costs.empty()) {
    PP_ASSIGN_OR_RETURN(given.costs, ir::ParseCosts(options.costs));
  }
  if (!options.memory.empty()) {
    PP_ASSIGN_OR_RETURN(given.memory, ir::ParseMemory(options.memory));
  }
  if (checked != nullptr) {
    PP_RETURN_IF_ERROR(
        ReadBlock(checked->costs, &ir::ReadCosts, given.costs, session.diag));
    PP_RETURN_IF_ERROR(ReadBlock(checked->memory, &ir::ReadMemory, given.memory,
                                 session.diag));
  }
  return Models{given.costs.value_or(ir::CostModel{}), std::move(given.memory)};
}

Result<analysis::Assumptions> AssumptionsOf(const Options& options,
                                            ir::Bytes message) {
  analysis::Assumptions assumptions;
  assumptions.first_connection = options.first_connection;
  const auto [name, limit] = llvm::StringRef(options.tier).split('=');
  using analysis::Tier;
  if (name == "eager" && !limit.empty()) {
    ir::Scanner in{{limit.data(), limit.size()}};
    const auto bytes = ir::ReadSize(in);
    if (!bytes || !in.AtEnd()) {
      return Fail(UsageError(
          fmt::format("--tier {}: `{}` is no size; write eager=64KiB",
                      options.tier, limit.str())));
    }
    if (message <= *bytes) assumptions.tier = Tier::kEager;
    return assumptions;
  }
  for (const Tier tier : {Tier::kStrict, Tier::kLanes}) {
    if (options.tier != TierName(tier)) continue;
    assumptions.tier = tier;
    return assumptions;
  }
  static constexpr std::string_view kNames[] = {"strict", "lanes", "eager"};
  return Fail(UsageError(
      fmt::format("--tier: there is no `{}`{} (strict, lanes, eager=BYTES)",
                  options.tier, Suggestion(name.str(), kNames))));
}

std::string Describe(const Options& options) {
  return "tier " + options.tier +
         (options.first_connection ? ", hosts wait to be connected" : "");
}

Result<sema::CheckedSchedule> LoadSchedule(Session& session) {
  PP_ASSIGN_OR_RETURN(uint32_t file,
                      session.sources.Load(session.options.file));
  std::optional<ast::File> tree =
      parse::Parse(session.sources, file, session.diag);
  if (!tree || session.diag.has_errors()) return Fail(Diagnosed());
  std::vector<sema::CheckedSchedule> schedules =
      sema::Check(session.sources, *tree, session.diag);
  if (session.diag.has_errors()) return Fail(Diagnosed());
  return Pick(session, std::move(schedules));
}

namespace {

// From a schedule that was simulated to a point that passed every check.
// `own`: bytecode that comes with its communication; else it is derived.
PointResult FinishPoint(CheckedPoint made, std::optional<bytecode::Module> own,
                        const Models& models,
                        const source::SourceManager& sources,
                        diag::Emitter& diag) {
  const ir::CostModel& costs = models.costs;
  PointResult result;
  if (!own) {
    auto lowered = lower::Lower(made.schedule, costs, sources, {});
    if (!lowered) {
      result.status = lowered.error();
      return result;
    }
    own = std::move(*lowered);
  }
  result.status = Emit(std::move(*own), costs, sources, made);
  if (!result.status.ok()) return result;
  check::CheckModule(made.module, diag);
  if (diag.has_errors()) return result;
  if (models.memory) {
    made.memory = analysis::PredictMemory(made.schedule, made.module,
                                          *models.memory, costs.message);
    check::CheckMemory(made.schedule, made.memory, models.memory->limit, diag);
  }
  if (diag.has_errors()) return result;
  result.outcome = PointOutcome::kAccepted;
  result.point = std::move(made);
  return result;
}

}  // namespace

PointResult CheckPoint(const sema::CheckedSchedule& checked,
                       const expand::Point& point, const Models& models,
                       const expand::Options& limits, bool expectations,
                       const source::SourceManager& sources,
                       diag::Emitter& diag) {
  expand::Expansion expansion = expand::Expand(checked, point, limits, diag);
  if (expansion.outcome == expand::Outcome::kRefused) {
    return {PointOutcome::kRefused, std::nullopt, OkStatus()};
  }
  PointResult result;
  if (!expansion.schedule || diag.has_errors()) return result;
  CheckedPoint made;
  made.schedule = std::move(*expansion.schedule);
  if (!check::CheckSchedule(made.schedule, diag)) return result;
  result.status = CheckModels(models, made.schedule);
  if (!result.status.ok()) return result;
  made.metrics = analysis::Simulate(made.schedule, models.costs);
  if (expectations) {
    made.expectations = expand::CheckExpectations(
        checked, point, made.schedule, made.metrics, models.costs, diag);
  }
  return FinishPoint(std::move(made), std::nullopt, models, sources, diag);
}

bool IsTable(const std::string& file) { return EndsWith(file, ".csv"); }

// What -P and -M say has to be what the table is.
Status CheckTableSize(const Session& session, const ir::Schedule& schedule) {
  for (const auto& [name, value] : session.options.values) {
    const bool known = name == "P" || name == "M";
    const uint32_t have = name == "P" ? schedule.ranks : schedule.micro_batches;
    if (known && value == have) continue;
    return UsageError(
        known ? fmt::format("-{} {}: the table {} has {} = {}", name, value,
                            session.options.file, name, have)
              : fmt::format("-D {}: a table has no parameters", name));
  }
  return OkStatus();
}

Result<CheckedTable> LoadTable(Session& session) {
  const std::string& path = session.options.file;
  PP_ASSIGN_OR_RETURN(uint32_t file, session.sources.Load(path));
  auto table = table::Parse(session.sources, file, session.diag);
  if (!table) return Fail(Diagnosed());
  auto schedule = table::ToSchedule(*table, llvm::sys::path::stem(path).str(),
                                    file, session.diag);
  if (!schedule) return Fail(Diagnosed());
  PP_RETURN_IF_ERROR(CheckTableSize(session, *schedule));
  if (!check::CheckSchedule(*schedule, session.diag)) return Fail(Diagnosed());
  return CheckedTable{std::move(*table), std::move(*schedule)};
}

Result<CheckedPoint> CheckTable(Session& session, CheckedTable loaded,
                                const Models& models) {
  CheckedPoint made;
  made.schedule = std::move(loaded.schedule);
  PP_RETURN_IF_ERROR(CheckModels(models, made.schedule));
  std::optional<bytecode::Module> own;
  if (loaded.table.has_comm) {
    own = table::ToModule(loaded.table, made.schedule, session.sources,
                          session.diag);
    if (!own) return Fail(Diagnosed());
  }
  made.metrics = analysis::Simulate(made.schedule, models.costs);
  PointResult result = FinishPoint(std::move(made), std::move(own), models,
                                   session.sources, session.diag);
  PP_RETURN_IF_ERROR(result.status);
  if (!result.point) return Fail(Diagnosed());
  return std::move(*result.point);
}

Result<CheckedInput> CheckInput(Session& session, bool expectations) {
  CheckedInput input;
  if (IsTable(session.options.file)) {
    PP_ASSIGN_OR_RETURN(input.models, LoadModels(session, nullptr));
    PP_ASSIGN_OR_RETURN(CheckedTable loaded, LoadTable(session));
    PP_ASSIGN_OR_RETURN(input.point,
                        CheckTable(session, std::move(loaded), input.models));
    return input;
  }
  PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
  PP_ASSIGN_OR_RETURN(input.models, LoadModels(session, &checked));
  PP_ASSIGN_OR_RETURN(
      input.point, CheckThePoint(session, checked, input.models, expectations));
  return input;
}

bool IsBytecode(const std::string& file) {
  return EndsWith(file, ".ppb") || EndsWith(file, ".ppasm");
}

Result<CheckedPoint> CheckThePoint(Session& session,
                                   const sema::CheckedSchedule& checked,
                                   const Models& models, bool expectations) {
  PointResult result = CheckPoint(checked, PointOf(session.options), models,
                                  LimitsOf(session.options), expectations,
                                  session.sources, session.diag);
  PP_RETURN_IF_ERROR(result.status);
  if (!result.point) return Fail(Diagnosed());
  return std::move(*result.point);
}

Result<bytecode::Module> LoadModule(Session& session) {
  const std::string& file = session.options.file;
  if (EndsWith(file, ".ppb")) return bytecode::LoadFile(file);
  if (EndsWith(file, ".ppasm")) {
    PP_ASSIGN_OR_RETURN(std::string text, ReadTextFile(file));
    PP_ASSIGN_OR_RETURN(bytecode::Module module, bytecode::Parse(text, file));
    PP_RETURN_IF_ERROR(bytecode::Verify(module).WithContext(file));
    return module;
  }
  PP_ASSIGN_OR_RETURN(CheckedInput input, CheckInput(session, false));
  return std::move(input.point.module);
}

namespace {

Result<Computation> LiftBytecode(Session& session) {
  PP_ASSIGN_OR_RETURN(Models models, LoadModels(session, nullptr));
  PP_ASSIGN_OR_RETURN(bytecode::Module module, LoadModule(session));
  if (!check::CheckModule(module, session.diag)) return Fail(Diagnosed());
  Computation result;
  PP_ASSIGN_OR_RETURN(result.schedule, LiftCompute(module));
  PP_RETURN_IF_ERROR(CheckModels(models, result.schedule));
  if (models.memory) {
    result.memory = analysis::PredictMemory(
        result.schedule, module, *models.memory, models.costs.message);
    if (!check::CheckMemory(result.schedule, result.memory,
                            models.memory->limit, session.diag)) {
      return Fail(Diagnosed());
    }
  }
  result.models = std::move(models);
  return result;
}

}  // namespace

Result<Computation> LoadComputation(Session& session) {
  const std::string& file = session.options.file;
  if (IsBytecode(file)) return LiftBytecode(session);
  if (IsTable(file)) {
    PP_ASSIGN_OR_RETURN(Models models, LoadModels(session, nullptr));
    PP_ASSIGN_OR_RETURN(CheckedTable loaded, LoadTable(session));
    // Communication of the table's own is judged; what would be derived is not
    // needed here.
    if (!loaded.table.has_comm && !models.memory) {
      PP_RETURN_IF_ERROR(CheckModels(models, loaded.schedule));
      return Computation{std::move(loaded.schedule), std::move(models), {}};
    }
    PP_ASSIGN_OR_RETURN(CheckedPoint point,
                        CheckTable(session, std::move(loaded), models));
    return Computation{std::move(point.schedule), std::move(models),
                       std::move(point.memory)};
  }
  PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
  PP_ASSIGN_OR_RETURN(Models models, LoadModels(session, &checked));
  if (models.memory) {  // slots are known once the schedule is lowered
    PP_ASSIGN_OR_RETURN(CheckedPoint point,
                        CheckThePoint(session, checked, models, false));
    return Computation{std::move(point.schedule), std::move(models),
                       std::move(point.memory)};
  }
  expand::Expansion expansion =
      expand::Expand(checked, PointOf(session.options),
                     LimitsOf(session.options), session.diag);
  if (!expansion.schedule || session.diag.has_errors()) {
    return Fail(Diagnosed());
  }
  if (!check::CheckSchedule(*expansion.schedule, session.diag)) {
    return Fail(Diagnosed());
  }
  PP_RETURN_IF_ERROR(CheckModels(models, *expansion.schedule));
  return Computation{std::move(*expansion.schedule), std::move(models), {}};
}

}  // namespace pp::driver
