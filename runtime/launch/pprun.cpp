#include "runtime/launch/pprun.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/base/file_io.h"
#include "runtime/base/machine.h"
#include "runtime/bytecode/reader.h"
#include "runtime/launch/checkpoint.h"
#include "runtime/launch/engines.h"
#include "runtime/launch/progress.h"
#include "runtime/launch/report.h"
#include "runtime/launch/run_processes.h"
#include "runtime/launch/run_threads.h"
#include "runtime/launch/signals.h"
#include "runtime/launch/spawn.h"
#include "runtime/trace/chrome_writer.h"
#include "runtime/trace/profile.h"
#include "runtime/transport/registry.h"

namespace pp::launch {
namespace {

constexpr const char kOwnLauncher[] = "--nproc";

int Failed(const Status& status) {
  fmt::print(stderr, "pprun: error: {}\n", status.message());
  return ExitCode(status);
}

// Before hours are spent on a run whose report has nowhere to go.
Status CheckWritable(const std::string& path) {
  if (path.empty()) return OkStatus();
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (access(folder.c_str(), W_OK) == 0) return OkStatus();
  return MachineError(
      fmt::format("cannot write {}: no such folder, or not allowed", path));
}

std::string ProfileText(const bytecode::Module& module, const Options& options,
                        const RunResult& result) {
  return trace::ProfileJson(
      module, trace::MeasureCosts(module, result.traces, options.warmup),
      {{"model", options.engine.model},
       {"device", options.engine.device},
       {"transport", options.transport},
       {"machine", Describe(ThisMachine())}});
}

Status WriteOutputs(const bytecode::Module& module, const Options& options,
                    const RunResult& result, const RunSummary& summary) {
  if (!options.report.empty()) {
    PP_RETURN_IF_ERROR(WriteTextFile(
        options.report, ReportJson(module, options, result, summary)));
  }
  if (!options.trace.empty() && !result.abandoned) {
    PP_RETURN_IF_ERROR(WriteTextFile(
        options.trace, trace::ChromeTrace(module, result.traces)));
  }
  if (!options.profile.empty() && result.status.ok()) {
    PP_RETURN_IF_ERROR(
        WriteTextFile(options.profile, ProfileText(module, options, result)));
  }
  if (!options.save.empty() && result.status.ok()) {
    PP_RETURN_IF_ERROR(
        SaveWeights(options.save, options.engine.model, result.weights));
  }
  return OkStatus();
}

Status CheckGradients(const RunResult& result) {
  if (!result.status.ok() || !result.gradients) return result.status;
  if (result.gradients->Close()) return OkStatus();
  return RankError(fmt::format(
      "gradients are not those of the unpipelined run: {} differs "
      "by {:.3g} at step {}",
      result.gradients->worst_parameter, result.gradients->max_abs_diff,
      result.gradients->worst_step));
}

RunOptions RunOptionsOf(const Options& options, Progress* progress) {
  RunOptions run;
  run.steps = options.steps;
  run.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(options.timeout_s * 1000));
  run.trace = !options.trace.empty() || !options.profile.empty();
  run.verify_gradients = options.verify_gradients;
  run.save_weights = !options.save.empty();
  run.first_step = options.engine.resumed.value_or(0);
  run.checkpoint_every = options.every;
  run.on_checkpoint = [&options](uint64_t steps, const WeightMap& all) {
    return SaveCheckpoint(options, steps, all);
  };
  run.inject = options.inject;
  run.stop_asked = CaughtSignal;
  run.on_step = [progress](const StepRecord& step) { progress->Show(step); };
  return run;
}

int Conclude(const bytecode::Module& module, const Options& options,
             const RunResult& result) {
  const RunSummary summary = SummarizeRun(module, result);
  // Timed work waits without a core; a model's does not.
  const uint32_t cores = options.engine.model == "synthetic"
                             ? 0
                             : std::thread::hardware_concurrency();
  fmt::print("{}", ReportTable(module, result, summary, cores));
  std::fflush(stdout);
  const Status run = CheckGradients(result);
  int code = run.ok() ? 0 : Failed(run);
  for (const std::string& line : result.positions) {
    fmt::print(stderr, "  {}\n", line);
  }
  const Status written = WriteOutputs(module, options, result, summary);
  if (!written.ok()) {
    const int write_code = Failed(written);
    if (code == 0) code = write_code;
  }
  // A thread that cannot be ended still uses what main would destroy.
  if (result.abandoned) {
    fmt::print(stderr,
               "pprun: a rank did not end; the process is ended with it\n");
    std::_Exit(code);
  }
  return code;
}

// Which transport, and whether this process is one of several.
Status SettleWorld(Options& options, std::optional<World>& world) {
  const bool on_gpu = options.engine.device == "cuda";
  const bool alone = world && world->ranks == 1;
  // A world of one is a thread, unless a transport between processes is asked
  // for by name.
  if (alone && options.transport.empty()) world.reset();
  if (options.transport.empty()) {
    options.transport = !world ? "inproc" : on_gpu ? "nccl" : "gloo";
  }
  PP_ASSIGN_OR_RETURN(const transport::TransportRow* row,
                      transport::RequireTransport(options.transport));
  if (alone && row->library.empty()) world.reset();
  if (row->name == "nccl" && !on_gpu) {
    return UsageError("--transport nccl needs --device cuda");
  }
  if (row->name == "gloo" && on_gpu) {
    return UsageError(
        "--transport gloo carries no GPU memory: use nccl, or inproc in one "
        "process");
  }
  if (world && row->library.empty()) {
    return UsageError(fmt::format(
        "{} started {} processes, but transport {} has all ranks in one",
        world->launcher, world->ranks, row->name));
  }
  if (world && !world->note.empty()) {
    fmt::print(stderr, "pprun: note: {}\n", world->note);
  }
  return OkStatus();
}

// The schedule's ranks against the processes there are.
Status CheckWorld(const bytecode::Module& module, const Options& options,
                  const std::optional<World>& world) {
  const bool processes =
      !transport::FindTransport(options.transport)->library.empty();
  if (!world && processes) {
    return UsageError(fmt::format(
        "the schedule needs {0} ranks, found 1 process: start {0} with --nproc "
        "{0}, torchrun, mpirun or srun",
        module.ranks()));
  }
  if (!world || world->ranks == module.ranks()) return OkStatus();
  return UsageError(fmt::format("the schedule needs {} ranks, {} started {}",
                                module.ranks(), world->launcher, world->ranks));
}

// A rank other than 0 only says what rank 0 cannot say for it.
int ConcludeWorker(const World& world, const RunResult& result, bool reported) {
  const Status& status = result.status;
  if (!status.ok() && !reported && status.code() != StatusCode::kAborted) {
    fmt::print(stderr, "pprun: rank {}: error: {}\n", world.rank.value,
               status.message());
    for (const std::string& line : result.positions) {
      fmt::print(stderr, "  {}\n", line);
    }
  }
  const int code = ExitCode(status);
  if (result.abandoned) std::_Exit(code);
  return code;
}

Status CheckOutputs(const Options& options) {
  for (const std::string* path :
       {&options.report, &options.trace, &options.profile, &options.save}) {
    PP_RETURN_IF_ERROR(CheckWritable(*path));
  }
  return OkStatus();
}

Status CheckInjection(const bytecode::Module& module, const Options& options) {
  if (!options.inject) return OkStatus();
  const Injection& fault = *options.inject;
  if (fault.rank.value >= module.ranks()) {
    return UsageError(fmt::format("--inject: there is no rank {}, but 0..{}",
                                  fault.rank.value, module.ranks() - 1));
  }
  const size_t size = module.programs[fault.rank.value].code.size();
  if (fault.pc < size && fault.step < options.steps) return OkStatus();
  return UsageError(
      fmt::format("--inject: rank {} has pc 0..{} and the run steps 0..{}",
                  fault.rank.value, size - 1, options.steps - 1));
}

struct Program {
  bytecode::Module module;
  std::vector<std::byte> bytes;  // of its file
};

// What can be said before anything is started. Settles transport and world.
Result<Program> LoadProgram(Options& options, std::optional<World>& world) {
  const bool leads = !world || world->rank == Rank(0);
  PP_RETURN_IF_ERROR(SettleWorld(options, world));
  if (leads) PP_RETURN_IF_ERROR(CheckOutputs(options));
  Program program;
  PP_ASSIGN_OR_RETURN(program.bytes, ReadFile(options.program));
  PP_ASSIGN_OR_RETURN(program.module,
                      bytecode::Load(program.bytes, options.program));
  PP_RETURN_IF_ERROR(CheckWorld(program.module, options, world));
  PP_RETURN_IF_ERROR(CheckInjection(program.module, options));
  PP_RETURN_IF_ERROR(SettleCheckpoint(options, leads));
  return program;
}

int RunThis(Options options, std::optional<World> world) {
  const bool leads = !world || world->rank == Rank(0);
  const auto program = LoadProgram(options, world);
  if (!program) return Failed(program.error());
  const bytecode::Module& module = program->module;
  auto factory = OpenEngine(options.engine.model);
  if (!factory) return Failed(factory.error());
  engine::EngineConfig engine = options.engine;
  auto driver = OpenDevice(engine.device);
  if (!driver) return Failed(driver.error());
  engine.driver = std::move(*driver);
  if (world && engine.driver != nullptr) {
    engine.gpu = world->local_rank % engine.driver->devices();
  }
  const Status prepared = (*factory)->Prepare(module, engine);
  if (!prepared.ok()) return Failed(prepared);

  CatchSignals();
  Progress progress(stderr, leads && isatty(STDERR_FILENO) == 1, options.steps);
  const RunOptions run = RunOptionsOf(options, &progress);
  RunResult result;
  if (world) {
    ProcessRun process =
        RunInWorld(*world, module, program->bytes, **factory, options, run);
    if (!process.leads)
      return ConcludeWorker(*world, process.result, process.reported);
    result = std::move(process.result);
  } else {
    auto ends = transport::CreateLocal(options.transport, module.ranks());
    if (!ends) return Failed(ends.error());
    result = RunThreads(module, **factory, std::move(*ends), run);
  }
  progress.End();
  result.warmup = options.warmup;
  return Conclude(module, options, result);
}

}  // namespace

int RunProgram(const Options& options) {
  auto world = ReadWorld([](const char* name) { return std::getenv(name); });
  if (!world) return Failed(world.error());
  if (*world && ReadSpawned()) (*world)->launcher = kOwnLauncher;
  return RunThis(options, std::move(*world));
}

int SpawnProgram(const Options& options, char** argv) {
  Options settled = options;
  std::optional<World> world = World{};
  world->ranks = options.nproc;
  world->launcher = kOwnLauncher;
  const auto program = LoadProgram(settled, world);
  if (!program) return Failed(program.error());
  return Spawn(options.nproc, argv);
}

}  // namespace pp::launch
