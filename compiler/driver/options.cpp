#include "compiler/driver/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "llvm/ADT/StringRef.h"
#include "runtime/base/edit_distance.h"

namespace pp::driver {
namespace {

constexpr const char* kVersion = "ppc 0.1.0";

// CLI11 shows what the thrown error says. Its own reading of integers takes
// one that does not fit for the largest that does.
int64_t ParseInteger(const char* flag, llvm::StringRef text) {
  int64_t value = 0;
  if (text.getAsInteger(10, value)) {
    throw CLI::ValidationError(
        flag, fmt::format("`{}` is no integer of 64 bits", text.str()));
  }
  return value;
}

// `name=value` of -D.
std::pair<std::string, int64_t> ParseDefine(llvm::StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || !text.contains('=')) {
    throw CLI::ValidationError(
        "-D", fmt::format("`{}` is not name=INTEGER", text.str()));
  }
  return {name.str(), ParseInteger("-D", value)};
}

// Collects what CLI11 parses before it becomes Options.
struct Raw {
  Options options;
  std::optional<std::string> ranks, micro_batches;
  std::vector<std::string> defines;
  std::string diagnostics = "text";
};

void AddFile(CLI::App& app, Raw& raw, const char* what) {
  app.add_option("file", raw.options.file, what)->required();
}

void AddPoint(CLI::App& app, Raw& raw) {
  app.add_option("-P,--ranks", raw.ranks, "ranks of the pipeline");
  app.add_option("-M,--microbatches", raw.micro_batches,
                 "micro-batches of one step");
  app.add_option("-D", raw.defines, "another parameter: name=INTEGER");
  app.add_option("--schedule", raw.options.schedule,
                 "which schedule, where the file holds several");
  app.add_option("--max-ops", raw.options.max_ops,
                 "refuse to expand to more operations than this")
      ->check(CLI::PositiveNumber);
}

void AddCosts(CLI::App& app, Raw& raw) {
  app.add_option("--cost", raw.options.costs,
                 "F=1,B=2,I=1,W=1,comm=0: what operations and hops cost, or "
                 "a file of costs (.json)");
  app.add_option("--mem", raw.options.memory,
                 "act=1GiB,limit=70GiB: what a stage keeps, and how much a "
                 "rank has");
}

// A file at a point of its parameters, under costs.
void AddInput(CLI::App& app, Raw& raw, const char* what) {
  AddFile(app, raw, what);
  AddPoint(app, raw);
  AddCosts(app, raw);
}

void AddTier(CLI::App& app, Raw& raw) {
  app.add_option("--tier", raw.options.tier,
                 "what the transport is assumed to do: strict (the gate), "
                 "lanes, or eager=BYTES");
  app.add_flag("--first-connection", raw.options.first_connection,
               "the first message of two ranks on a lane blocks their hosts "
               "until both have issued it");
  app.add_option("--dot", raw.options.dot,
                 "where ranks wait in a circle: draw it into this file "
                 "(Graphviz)");
}

void AddOutput(CLI::App& app, Raw& raw, const char* what) {
  app.add_option("-o,--output", raw.options.output, what);
}

void AddJson(CLI::App& app, Raw& raw) {
  app.add_flag("--json", raw.options.json, "print one JSON object");
}

void ConfigureCompile(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.sched");
  AddOutput(app, raw, "OUT.ppb or OUT.ppasm (default: FILE's stem + .ppb)");
  app.add_option("--emit", raw.options.emit,
                 "print a stage's result instead: ast, ir or asm")
      ->check(CLI::IsMember({"ast", "ir", "asm"}));
}

void ConfigureCheck(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.sched");
  AddJson(app, raw);
  AddTier(app, raw);
  app.add_option("--for", raw.options.sweep,
                 "a grid: P=2..8,M=1..32,v=1..3 (both ends included)");
  app.add_option("-j,--jobs", raw.options.jobs,
                 "points checked at the same time (default: all cores)");
}

void ConfigureSimulate(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.sched or FILE.ppb");
  AddJson(app, raw);
  app.add_option("--barrier", raw.options.barrier,
                 "on: one step alone; off: also what a step takes in the long "
                 "run, each rank going on without waiting for the others")
      ->check(CLI::IsMember({"on", "off"}));
}

void ConfigureCompare(CLI::App& app, Raw& raw) {
  app.add_option("files", raw.options.files, "A.sched B.sched ...")->required();
  app.add_option("-P,--P", raw.options.grid_ranks,
                 "ranks: numbers and ranges, 4,8 or 2..8")
      ->required();
  app.add_option("-M,--M", raw.options.grid_micro_batches,
                 "micro-batches, likewise")
      ->required();
  app.add_option("-D", raw.defines,
                 "another parameter: name=INTEGER, for the schedules that have "
                 "it");
  AddCosts(app, raw);
  AddJson(app, raw);
}

void ConfigureShow(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.sched or FILE.ppb");
  AddOutput(app, raw,
            "OUT.svg, OUT.html, or OUT.json: Chrome trace (default: the "
            "terminal)");
  app.add_option(
      "--measured", raw.options.measured,
      "TRACE.json of `pprun --trace`, laid over the simulation; without "
      "-o: a table of both, operation by operation");
  app.add_option("--step", raw.options.step,
                 "which step of it (default: the one of median makespan, the "
                 "first left out)");
}

void ConfigureDump(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.ppb, FILE.ppasm or FILE.sched");
  app.add_option("--rank", raw.options.rank, "only this rank");
  app.add_flag("--hex", raw.options.hex, "the bytes, annotated");
}

void ConfigureAssemble(CLI::App& app, Raw& raw) {
  AddFile(app, raw, "IN.ppasm");
  AddOutput(app, raw, "OUT.ppb (default: IN's stem + .ppb)");
}

void ConfigureVerify(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.ppb, FILE.ppasm or FILE.sched");
  AddTier(app, raw);
}

void AddFormat(CLI::App& app, Raw& raw) {
  app.add_option("--format", raw.options.format,
                 "pytorch: torch.distributed.pipelining's table")
      ->check(CLI::IsMember({"pytorch"}));
}

void ConfigureImport(CLI::App& app, Raw& raw) {
  AddFile(app, raw, "TABLE.csv");
  AddCosts(app, raw);
  AddFormat(app, raw);
  AddOutput(app, raw, "OUT.ppb or OUT.ppasm (default: TABLE's stem + .ppb)");
}

void ConfigureExport(CLI::App& app, Raw& raw) {
  AddInput(app, raw, "FILE.sched, FILE.ppb, FILE.ppasm or TABLE.csv");
  AddFormat(app, raw);
  app.add_flag("--comms", raw.options.comms,
               "with SEND and RECV (PyTorch: format=\"compute_comms\")");
  AddOutput(app, raw, "OUT.csv (default: standard output)");
}

void ConfigureExplain(CLI::App& app, Raw& raw) {
  AddFile(app, raw, "a code, such as PP4003");
}

void AddCommands(CLI::App& app, Raw& raw){
#define PP_COMMAND(Function, name, help)                              \
  {                                                                   \
    CLI::App* sub = app.add_subcommand(name, help);                   \
    sub->add_option("--diagnostics", raw.diagnostics, "text or json") \
        ->check(CLI::IsMember({"text", "json"}));                     \
    Configure##Function(*sub, raw);                                   \
    sub->callback([&raw] { raw.options.command = name; });            \
  }
#include "compiler/driver/commands.def"
}

// A first word that is no command: said before CLI11 says only that there is
// none.
Status CheckCommandWord(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return OkStatus();
  static constexpr std::string_view kNames[] = {
#define PP_COMMAND(Function, name, help) name,
#include "compiler/driver/commands.def"
  };
  const std::string_view word = argv[1];
  if (std::find(std::begin(kNames), std::end(kNames), word) !=
      std::end(kNames)) {
    return OkStatus();
  }
  return UsageError(
      fmt::format("`{}` is no command of ppc{} (`ppc --help` "
                  "shows them)",
                  word, Suggestion(word, kNames)));
}

void Finish(Raw& raw) {
  Options& options = raw.options;
  if (raw.ranks) {
    options.values.emplace_back("P", ParseInteger("-P", *raw.ranks));
  }
  if (raw.micro_batches) {
    options.values.emplace_back("M", ParseInteger("-M", *raw.micro_batches));
  }
  for (const std::string& define : raw.defines) {
    options.values.push_back(ParseDefine(define));
  }
  options.json_diagnostics = raw.diagnostics == "json";
}

}  // namespace

Result<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv) {
  Raw raw;
  CLI::App app{
      "ppc: schedules of pipeline-parallel training, checked and "
      "compiled",
      "ppc"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  AddCommands(app, raw);
  PP_RETURN_IF_ERROR(CheckCommandWord(argc, argv));
  try {
    app.parse(argc, argv);
    Finish(raw);
  } catch (const CLI::CallForHelp&) {
    for (CLI::App* sub : app.get_subcommands()) {
      return ParsedCommandLine{{}, sub->help("ppc")};
    }
    return ParsedCommandLine{{}, app.help()};
  } catch (const CLI::CallForVersion&) {
    return ParsedCommandLine{{}, std::string(kVersion) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Fail(UsageError(
        fmt::format("{} (`ppc --help` shows the usage)", error.what())));
  }
  return ParsedCommandLine{std::move(raw.options), std::nullopt};
}

}  // namespace pp::driver
