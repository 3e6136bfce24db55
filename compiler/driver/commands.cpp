#include "compiler/driver/commands.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/analysis/receive_slots.h"
#include "compiler/analysis/simulate.h"
#include "compiler/ast/printer.h"
#include "compiler/check/check.h"
#include "compiler/diag/explain.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/report.h"
#include "compiler/driver/sweep.h"
#include "compiler/ir/ir_printer.h"
#include "compiler/parse/parse.h"
#include "llvm/Support/Path.h"
#include "runtime/base/file_io.h"
#include "runtime/bytecode/dump.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/writer.h"

namespace pp::driver {
namespace {

std::string DefaultOutput(const Options& options) {
  return llvm::sys::path::stem(options.file).str() + ".ppb";
}

std::string OutputOf(const Options& options) {
  return options.output.empty() ? DefaultOutput(options) : options.output;
}

Status WriteText(const std::string& path, const std::string& text) {
  return WriteTextFile(path, text);
}

// What a framework has to know that sends in the order of computation.
std::string SlotsText(const std::vector<analysis::ReceiveSlots>& channels,
                      uint32_t most) {
  std::vector<std::string> where;
  constexpr size_t kShown = 4;
  for (const analysis::ReceiveSlots& channel : channels) {
    if (channel.least != most) continue;
    where.push_back(fmt::format("rank {} to {} ({})", channel.from.value,
                                channel.to.value,
                                channel.forward ? "activations" : "gradients"));
  }
  const size_t more = where.size() - std::min(where.size(), kShown);
  where.resize(where.size() - more);
  return fmt::format(
      "where each rank sends what it computes in that order, at least {} "
      "receive slots are\nneeded, with fewer it hangs: {}{}\n",
      most, fmt::join(where, ", "),
      more > 0 ? fmt::format(" and {} more", more) : "");
}

Status WriteBytecode(Session& session, const bytecode::Module& module,
                     std::span<const std::byte> bytes) {
  const std::string path = OutputOf(session.options);
  if (EndsWith(path, ".ppasm")) {
    PP_RETURN_IF_ERROR(WriteText(path, bytecode::Print(module)));
  } else {
    PP_RETURN_IF_ERROR(WriteFile(path, bytes));
  }
  size_t instructions = 0;
  for (const auto& program : module.programs) {
    instructions += program.code.size();
  }
  session.err << fmt::format("wrote {}: {} ranks, {} instructions\n", path,
                             module.ranks(), instructions);
  return OkStatus();
}

Status EmitTree(Session& session) {
  PP_ASSIGN_OR_RETURN(uint32_t file,
                      session.sources.Load(session.options.file));
  std::optional<ast::File> tree =
      parse::Parse(session.sources, file, session.diag);
  if (!tree || session.diag.has_errors()) return Diagnosed();
  session.out << ast::Print(*tree);
  return OkStatus();
}

Status CheckGrid(Session& session, const sema::CheckedSchedule& checked) {
  PP_ASSIGN_OR_RETURN(std::vector<SweepRange> ranges,
                      ParseSweep(session.options.sweep));
  // A grid written for several schedules may name what this one lacks.
  std::erase_if(ranges, [&](const SweepRange& range) {
    bool unknown = std::find(checked.params.begin(), checked.params.end(),
                             range.name) == checked.params.end();
    if (unknown) {
      session.err << fmt::format(
          "ppc: note: `{}` has no parameter `{}`: left out of the grid\n",
          checked.name, range.name);
    }
    return unknown;
  });
  PP_ASSIGN_OR_RETURN(Models models, LoadModels(session, &checked));
  PP_ASSIGN_OR_RETURN(SweepCounts counts,
                      Sweep(session, checked, ranges, models));
  if (session.options.json) {
    session.out << nlohmann::ordered_json{{"schedule", checked.name},
                                          {"points", counts.points},
                                          {"accepted", counts.accepted},
                                          {"refused", counts.refused},
                                          {"expectations", counts.expectations},
                                          {"operations", counts.operations}}
                       .dump(2)
                << "\n";
    return OkStatus();
  }
  session.out << fmt::format(
      "{}: {} points: {} accepted, {} refused by `require`; {} expectations "
      "hold; {} operations\n",
      checked.name, counts.points, counts.accepted, counts.refused,
      counts.expectations, counts.operations);
  return OkStatus();
}

// Under the tier that is asked for. `gated`: the module has passed the gate,
// which is what is asked for by default.
Status CheckTier(Session& session, const bytecode::Module& module,
                 ir::Bytes message, bool gated) {
  PP_ASSIGN_OR_RETURN(const analysis::Assumptions assumptions,
                      AssumptionsOf(session.options, message));
  if (gated && assumptions == analysis::Assumptions{}) return OkStatus();
  return check::CheckModule(module, session.diag, assumptions) ? OkStatus()
                                                               : Diagnosed();
}

}  // namespace

Status RunCompile(Session& session) {
  const std::string& emit = session.options.emit;
  if (emit == "ast") return EmitTree(session);
  PP_ASSIGN_OR_RETURN(const CheckedInput input, CheckInput(session, false));
  const CheckedPoint& point = input.point;
  if (emit == "ir") {
    session.out << ir::Print(point.schedule);
    return OkStatus();
  }
  if (emit == "asm") {
    session.out << bytecode::Print(point.module);
    return OkStatus();
  }
  return WriteBytecode(session, point.module, point.bytes);
}

Status RunCheck(Session& session) {
  if (!session.options.sweep.empty()) {
    if (IsTable(session.options.file)) {
      return UsageError("--for: a table is one point, not a grid");
    }
    PP_ASSIGN_OR_RETURN(sema::CheckedSchedule checked, LoadSchedule(session));
    return CheckGrid(session, checked);
  }
  PP_ASSIGN_OR_RETURN(const CheckedInput input, CheckInput(session, true));
  const CheckedPoint& point = input.point;
  PP_RETURN_IF_ERROR(
      CheckTier(session, point.module, input.models.costs.message, true));
  const uint64_t operations = ir::CountOperations(point.schedule);
  const auto least = analysis::LeastReceiveSlots(point.schedule);
  uint32_t slots = 0;
  for (const analysis::ReceiveSlots& channel : least) {
    slots = std::max(slots, channel.least);
  }
  if (session.options.json) {
    session.out << nlohmann::ordered_json{{"schedule", point.schedule.name},
                                          {"points", 1},
                                          {"accepted", 1},
                                          {"refused", 0},
                                          {"expectations", point.expectations},
                                          {"operations", operations},
                                          {"least_receive_slots", slots}}
                       .dump(2)
                << "\n";
    return OkStatus();
  }
  session.out << fmt::format(
      "{}: accepted: {} operations, {} messages, {} expectations hold; cannot "
      "hang ({})\n",
      Title(point.schedule), operations, point.metrics.messages,
      point.expectations, Describe(session.options));
  if (slots > 1) session.out << SlotsText(least, slots);
  return OkStatus();
}

Status RunSimulate(Session& session) {
  PP_ASSIGN_OR_RETURN(Computation computation, LoadComputation(session));
  const ir::CostModel& costs = computation.models.costs;
  ir::Metrics metrics = analysis::Simulate(computation.schedule, costs);
  std::optional<ir::Period> period;
  if (session.options.barrier == "off") {
    period = analysis::SimulatePeriod(computation.schedule, costs);
  }
  session.out << (session.options.json
                      ? SimulationJson(computation, metrics, period)
                      : SimulationText(computation, metrics, period));
  return OkStatus();
}

Status RunCompare(Session& session) {
  PP_ASSIGN_OR_RETURN(std::vector<CompareRow> rows, Compare(session));
  session.out << (session.options.json ? CompareJson(rows) : CompareText(rows));
  return OkStatus();
}

Status RunDump(Session& session) {
  PP_ASSIGN_OR_RETURN(bytecode::Module module, LoadModule(session));
  bytecode::DumpOptions options;
  options.hex = session.options.hex;
  if (session.options.rank) {
    if (*session.options.rank >= module.ranks()) {
      return InputError(fmt::format("--rank {}: the bytecode has ranks 0..{}",
                                    *session.options.rank, module.ranks() - 1));
    }
    options.rank = Rank(*session.options.rank);
  }
  return bytecode::Dump(module, options, session.out);
}

Status RunAssemble(Session& session) {
  if (!EndsWith(session.options.file, ".ppasm")) {
    return UsageError(
        fmt::format("{}: assemble takes a .ppasm file", session.options.file));
  }
  PP_ASSIGN_OR_RETURN(bytecode::Module module, LoadModule(session));
  PP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, bytecode::Write(module));
  return WriteBytecode(session, module, bytes);
}

Status RunImport(Session& session) {
  if (!IsTable(session.options.file)) {
    return UsageError(
        fmt::format("{}: import takes a table (.csv)", session.options.file));
  }
  PP_ASSIGN_OR_RETURN(const CheckedInput input, CheckInput(session, false));
  return WriteBytecode(session, input.point.module, input.point.bytes);
}

Status RunExport(Session& session) {
  std::string text;
  if (session.options.comms) {
    PP_ASSIGN_OR_RETURN(const bytecode::Module module, LoadModule(session));
    text = table::Print(module);
  } else {
    PP_ASSIGN_OR_RETURN(const Computation computation,
                        LoadComputation(session));
    text = table::Print(computation.schedule);
  }
  if (!session.options.output.empty()) {
    return WriteText(session.options.output, text);
  }
  session.out << text;
  return OkStatus();
}

Status RunVerify(Session& session) {
  PP_ASSIGN_OR_RETURN(bytecode::Module module, LoadModule(session));
  PP_ASSIGN_OR_RETURN(const Models models, LoadModels(session, nullptr));
  PP_RETURN_IF_ERROR(CheckTier(session, module, models.costs.message,
                               !IsBytecode(session.options.file)));
  size_t instructions = 0;
  for (const auto& program : module.programs) {
    instructions += program.code.size();
  }
  session.out << fmt::format(
      "{}: accepted: {} ranks, {} instructions; cannot hang ({}), "
      "every transfer meets its partner, every tensor is the right one\n",
      session.options.file, module.ranks(), instructions,
      Describe(session.options));
  return OkStatus();
}

Status RunExplain(Session& session) {
  const std::string& id = session.options.file;
  if (const diag::CodeInfo* info = diag::FindCode(id)) {
    session.out << diag::Explain(info->code);
    return OkStatus();
  }
  std::string known;
  for (const diag::CodeInfo& info : diag::AllCodes()) {
    known += fmt::format("\n  {}  {}", info.id, info.summary);
  }
  return UsageError(
      fmt::format("no diagnostic has the code `{}`; there are{}", id, known));
}

}  // namespace pp::driver
