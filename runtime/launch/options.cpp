#include "runtime/launch/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runtime/bytecode/version.h"
#include "runtime/launch/engines.h"
#include "runtime/transport/registry.h"

namespace pp::launch {
namespace {

constexpr const char kVersion[] = "0.1.0";

std::string Footer() {
  std::string text = "models (--model):\n";
  for (const ModelRow& row : AllModels()) {
    text += fmt::format("  {:<12}{}\n", row.name, row.help);
  }
  text += "transports (--transport):\n";
  for (const transport::TransportRow& row : transport::AllTransports()) {
    text += fmt::format("  {:<12}{}\n", row.name, row.help);
  }
  text +=
      "options of the synthetic model (--model-opt):\n"
#define PP_SYNTHETIC_OPTION(name, Kind, field, help) \
  "  " #name "=...  " help "\n"
#include "runtime/engine/synthetic/options.def"
      "  sN=...  factor of the durations of stage N\n"
      "exit status: 0 done, 1 the program is at fault, 2 usage, 3 the machine, "
      "4 a rank failed or hung";
  return text;
}

// Options of pprun that are options of a model under a short name.
constexpr const char* kShortForms[][2] = {
    {"layers", "layers of the model"},
    {"dim", "width of the model"},
    {"heads", "attention heads"},
    {"context", "bytes of a row"},
};

// CLI11's own Range lets "nan" through.
std::function<std::string(const std::string&)> Within(double least,
                                                      double most) {
  return [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least &&
        value <= most) {
      return "";
    }
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  };
}

class Parser {
 public:
  Parser() : app_("runs a compiled pipeline schedule", "pprun") {
    app_.footer(Footer());
    app_.set_version_flag(
        "--version", fmt::format("pprun {} (bytecode version {})", kVersion,
                                 bytecode::kFormatVersion));
    AddRun();
    AddModel();
    AddOutput();
  }

  Result<CommandLine> Parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return CommandLine{{}, app_.help()};
    } catch (const CLI::CallForVersion& version) {
      return CommandLine{{}, std::string(version.what()) + "\n"};
    } catch (const CLI::Error& error) {
      return Fail(
          UsageError(std::string(error.what()) + " (pprun --help tells more)"));
    }
    PP_RETURN_IF_ERROR(TakeFiles());
    PP_RETURN_IF_ERROR(TakeModelOptions());
    return CommandLine{std::move(options_), std::nullopt};
  }

 private:
  void AddRun() {
    app_.add_option("program", files_,
                    "OUT.ppb of `ppc compile`; after --model stage0.pt also "
                    "the other stages")
        ->required()
        ->expected(-1);
    app_.add_option("--steps", options_.steps, "training steps (10)")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
    app_.add_option("--warmup", options_.warmup,
                    "of the steps, so many first ones are not timed (1)")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1'000'000'000}));
    app_.add_option("--transport", options_.transport,
                    "default: inproc; where ranks are processes gloo, or nccl "
                    "on GPUs");
    app_.add_option("--nproc", options_.nproc,
                    "start so many processes here, one a rank; under torchrun, "
                    "mpirun or srun this one joins theirs")
        ->check(CLI::Range(2u, 65535u));
    app_.add_option("--device", options_.engine.device,
                    "cpu (default) or cuda");
    app_.add_option("--inject", inject_,
                    "RANK:PC:KIND[:STEP], a fault on purpose, for tests; "
                    "kinds: error, exit, kill, stop, hang");
    app_.add_option("--timeout", options_.timeout_s,
                    "seconds one instruction may take before the run counts "
                    "as hung (60); ranks that are processes have 10 more to "
                    "come together")
        ->check(Within(0.01, 1e6));
  }

  void AddModel() {
    app_.add_option("--model", options_.engine.model,
                    "default: synthetic; the table is below; or TorchScript "
                    "stages: stage0.pt stage1.pt ...");
    app_.add_option("--loss", options_.engine.loss,
                    "of TorchScript stages: mse (default), cross_entropy, or a "
                    "module: loss.pt");
    app_.add_option("--model-opt", model_options_,
                    "name=value, an option of the model; repeatable")
        ->allow_extra_args(false);
    for (size_t i = 0; i < std::size(kShortForms); ++i) {
      app_.add_option(std::string("--") + kShortForms[i][0], short_[i],
                      kShortForms[i][1]);
    }
    app_.add_flag("--tie", tie_, "head and embedding share their weight");
    app_.add_option("--data", options_.engine.data, "text to train on");
    app_.add_option("--batch", options_.engine.batch,
                    "rows of the whole batch (the model's default)")
        ->check(CLI::Range(1u, 1u << 30));
    app_.add_option("--seed", options_.engine.seed, "default: 1")
        ->check(CLI::NonNegativeNumber);  // -1 would become 2^64 - 1
    app_.add_option("--init", options_.engine.init,
                    "safetensors file that the weights start from, by the "
                    "model's names (default: from the seed)");
    app_.add_option("--optimizer", options_.engine.optimizer,
                    "sgd or adamw (default)")
        ->check(CLI::IsMember({"sgd", "adamw"}));
    app_.add_option("--lr", options_.engine.learning_rate,
                    "learning rate (the optimizer's default)")
        ->check(Within(1e-30, 1e30));
  }

  void AddOutput() {
    app_.add_option("--report", options_.report, "write run.json here");
    app_.add_option("--trace", options_.trace,
                    "write a Chrome trace here (opens in Perfetto)");
    app_.add_option("--profile", options_.profile,
                    "write measured costs here, for `ppc simulate --cost`");
    app_.add_option("--save", options_.save,
                    "write the weights after the last step here, as "
                    "safetensors; the same for every P, M and schedule");
    app_.add_option("--checkpoint", options_.checkpoint,
                    "folder of checkpoints");
    app_.add_option("--every", options_.every,
                    "a checkpoint after every so many steps, and the last")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
    app_.add_flag("--resume", options_.resume,
                  "go on from the newest checkpoint, if there is one, up to "
                  "--steps; P, M and schedule may be others");
    app_.add_flag("--verify-gradients", options_.verify_gradients,
                  "compare losses and every gradient with an unpipelined run");
  }

  // One program; what ends like the first stage are the next ones.
  Status TakeFiles() {
    const auto is_stage = [](const std::string& name) {
      return name.ends_with(".pt");
    };
    engine::EngineConfig& engine = options_.engine;
    if (is_stage(engine.model)) {
      engine.stage_files.push_back(std::exchange(engine.model, "script"));
    } else if (!engine.loss.empty()) {
      return UsageError("--loss is for TorchScript stages (--model stage0.pt)");
    }
    for (const std::string& file : files_) {
      if (!engine.stage_files.empty() && is_stage(file)) {
        engine.stage_files.push_back(file);
      } else if (options_.program.empty()) {
        options_.program = file;
      } else {
        return UsageError(
            fmt::format("two programs, {} and {} (pprun --help tells more)",
                        options_.program, file));
      }
    }
    if (!options_.program.empty()) return OkStatus();
    return UsageError("no program OUT.ppb (pprun --help tells more)");
  }

  Status CheckCheckpoint() const {
    const bool wanted = options_.every != 0 || options_.resume;
    if (options_.checkpoint.empty() == !wanted) return OkStatus();
    return UsageError(wanted
                          ? "--every and --resume need --checkpoint FOLDER"
                          : "--checkpoint needs --every N, --resume, or both");
  }

  Status TakeModelOptions() {
    PP_RETURN_IF_ERROR(CheckCheckpoint());
    if (options_.engine.model == "synthetic" &&
        !(options_.engine.init.empty() && options_.save.empty() &&
          options_.checkpoint.empty())) {
      return UsageError(fmt::format("{}: the model synthetic has no weights",
                                    !options_.save.empty() ? "--save"
                                    : !options_.checkpoint.empty()
                                        ? "--checkpoint"
                                        : "--init"));
    }
    if (!inject_.empty()) {
      PP_ASSIGN_OR_RETURN(options_.inject, ParseInjection(inject_));
    }
    for (const std::string& pair : model_options_) {
      const size_t equals = pair.find('=');
      if (equals == 0 || equals == std::string::npos) {
        return UsageError("--model-opt '" + pair + "': expected name=value");
      }
      options_.engine.options.emplace_back(pair.substr(0, equals),
                                           pair.substr(equals + 1));
    }
    for (size_t i = 0; i < std::size(kShortForms); ++i) {
      if (!short_[i].empty()) {
        options_.engine.options.emplace_back(kShortForms[i][0], short_[i]);
      }
    }
    if (tie_) options_.engine.options.emplace_back("tie", "1");
    return OkStatus();
  }

  CLI::App app_;
  Options options_;
  std::vector<std::string> files_;
  std::vector<std::string> model_options_;
  std::string short_[std::size(kShortForms)];
  bool tie_ = false;
  std::string inject_;
};

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  return Parser().Parse(argc, argv);
}

}  // namespace pp::launch
