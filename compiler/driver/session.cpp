#include "compiler/driver/session.h"

#include <fmt/format.h>

#include "compiler/analysis/simulate.h"
#include "compiler/check/check.h"
#include "compiler/driver/lift.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "llvm/ADT/StringExtras.h"
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
Status Emit(const sema::CheckedSchedule& checked, const ir::CostModel& costs,
            const source::SourceManager& sources, CheckedPoint& point) {
  PP_ASSIGN_OR_RETURN(bytecode::Module module,
                      lower::Lower(point.schedule, costs, sources, {}));
  emit::FillFacts(module, point.schedule, point.metrics, costs, sources);
  PP_ASSIGN_OR_RETURN(point.bytes, bytecode::Write(module));
  PP_ASSIGN_OR_RETURN(point.module, bytecode::Read(point.bytes));
  return bytecode::Verify(point.module)
      .WithContext(fmt::format("internal error: `{}` was lowered wrongly",
                               checked.name));
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

Result<ir::CostModel> Costs(const Session& session) {
  if (session.options.costs.empty()) return ir::CostModel{};
  return ir::ParseCosts(session.options.costs);
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

PointResult CheckPoint(const sema::CheckedSchedule& checked,
                       const expand::Point& point, const ir::CostModel& costs,
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
  result.status = ir::CheckClockFits(costs, ir::CountOperations(made.schedule));
  if (!result.status.ok()) return result;
  made.metrics = analysis::Simulate(made.schedule, costs);
  if (expectations) {
    made.expectations = expand::CheckExpectations(checked, point, made.schedule,
                                                  made.metrics, costs, diag);
  }
  result.status = Emit(checked, costs, sources, made);
  if (!result.status.ok()) return result;
  check::CheckModule(made.module, diag);
  if (diag.has_errors()) return result;
  result.outcome = PointOutcome::kAccepted;
  result.point = std::move(made);
  return result;
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
  PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
  PP_ASSIGN_OR_RETURN(ir::CostModel costs, Costs(session));
  PointResult result = CheckPoint(checked, PointOf(session.options), costs,
                                  LimitsOf(session.options), false,
                                  session.sources, session.diag);
  PP_RETURN_IF_ERROR(result.status);
  if (!result.point) return Fail(Diagnosed());
  return std::move(result.point->module);
}

// Whatever is simulated has to end before the simulator's clock does.
Result<ir::Schedule> Simulable(const Session& session, ir::Schedule schedule) {
  PP_ASSIGN_OR_RETURN(ir::CostModel costs, Costs(session));
  PP_RETURN_IF_ERROR(ir::CheckClockFits(costs, ir::CountOperations(schedule)));
  return schedule;
}

Result<ir::Schedule> LoadCompute(Session& session) {
  const std::string& file = session.options.file;
  if (EndsWith(file, ".ppb") || EndsWith(file, ".ppasm")) {
    PP_ASSIGN_OR_RETURN(bytecode::Module module, LoadModule(session));
    if (!check::CheckModule(module, session.diag)) return Fail(Diagnosed());
    PP_ASSIGN_OR_RETURN(ir::Schedule lifted, LiftCompute(module));
    return Simulable(session, std::move(lifted));
  }
  PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
  expand::Expansion expansion =
      expand::Expand(checked, PointOf(session.options),
                     LimitsOf(session.options), session.diag);
  if (!expansion.schedule || session.diag.has_errors()) {
    return Fail(Diagnosed());
  }
  if (!check::CheckSchedule(*expansion.schedule, session.diag)) {
    return Fail(Diagnosed());
  }
  return Simulable(session, std::move(*expansion.schedule));
}

}  // namespace pp::driver
