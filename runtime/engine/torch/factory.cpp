#include "runtime/engine/torch/factory.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/engine/torch/border.h"
#include "runtime/engine/torch/initial_weights.h"
#include "runtime/engine/torch/ledger.h"
#include "runtime/engine/torch/reference.h"
#include "runtime/engine/torch/torch_engine.h"
#include "runtime/models/registry.h"

namespace pp::engine::torch_engine {
namespace {

// More rows than this in one batch is a slip of the keyboard.
constexpr uint32_t kMostRows = 1u << 20;

Status CheckModule(const bytecode::Module& module) {
  for (size_t r = 0; r < module.programs.size(); ++r) {
    for (const bytecode::ChunkInfo& chunk : module.programs[r].chunks) {
      if (chunk.stage.value >= module.stages) {
        return InputError(fmt::format("rank {} holds stage {} of {}", r,
                                      chunk.stage.value, module.stages));
      }
    }
  }
  if (module.micro_batches == 0) {
    return InputError("the module has no micro-batches");
  }
  return OkStatus();
}

Status CheckBatch(const Setup& setup) {
  const uint32_t m = setup.module.micro_batches;
  if (setup.batch < m) {
    return UsageError(
        fmt::format("a batch of {} rows cannot be split into {} micro-batches; "
                    "give --batch {} or more",
                    setup.batch, m, m));
  }
  if (setup.batch > kMostRows) {
    return UsageError(
        fmt::format("a batch of {} rows: at most {}", setup.batch, kMostRows));
  }
  return setup.model->CheckBatch(setup.batch);
}

// Ranks take GPUs in turn, or the one that belongs to the process.
Status OpenGpus(const bytecode::Module& module, const EngineConfig& config,
                Setup& setup) {
  if (config.device == "cpu") return OkStatus();
  if (config.driver == nullptr) {
    return UsageError(fmt::format(
        "device '{}': the torch engine runs on cpu or cuda", config.device));
  }
  PP_RETURN_IF_ERROR(LoadTorchCuda());
  const uint32_t count =
      config.gpu ? 1 : std::min(config.driver->devices(), module.ranks());
  std::vector<std::shared_ptr<const device::Timebase>> timebases;
  for (uint32_t d = 0; d < count; ++d) {
    PP_ASSIGN_OR_RETURN(
        timebases.emplace_back(),
        device::Timebase::Create(config.driver, config.gpu.value_or(d)));
  }
  setup.gpus = std::make_shared<Gpus>(std::move(timebases));
  setup.device = at::kCUDA;
  return OkStatus();
}

Status NotPrepared() {
  return UsageError("torch engine: Prepare has not succeeded");
}

}  // namespace

Result<std::shared_ptr<const Setup>> MakeSetup(
    const bytecode::Module& module, std::shared_ptr<const models::Model> model,
    const EngineConfig& config, uint32_t default_batch) {
  auto setup = std::make_shared<Setup>();
  PP_RETURN_IF_ERROR(OpenGpus(module, config, *setup));
  setup->module = module;
  setup->model = std::move(model);
  setup->batch = config.batch != 0    ? config.batch
                 : default_batch != 0 ? default_batch
                                      : setup->model->DefaultBatch();
  setup->seed = config.seed;
  setup->optimizer = {config.optimizer, config.learning_rate};
  PP_RETURN_IF_ERROR(CheckOptimizer(setup->optimizer));
  PP_RETURN_IF_ERROR(CheckModule(module));
  PP_ASSIGN_OR_RETURN(
      setup->stages,
      models::Partition(config.model, setup->model->Layers(), module.stages));
  PP_RETURN_IF_ERROR(CheckBatch(*setup));
  if (!config.init.empty()) {
    PP_ASSIGN_OR_RETURN(setup->init, weights::File::Open(config.init));
    PP_RETURN_IF_ERROR(
        CheckInitialWeights(config.model, *setup->model, *setup->init,
                            config.resumed ? StatePrefixes(setup->optimizer)
                                           : std::vector<std::string>()));
    setup->resumed = config.resumed;
  }
  return setup;
}

Status TorchEngineFactory::Prepare(const bytecode::Module& module,
                                   const EngineConfig& config) {
  return AtBorder("preparing the torch engine", [&]() -> Status {
    InstallAllocator();
    UseOneThread();
    PP_ASSIGN_OR_RETURN(
        models::MadeModel made,
        models::MakeModel(config.model, config.options, config.seed,
                          config.data, config.stage_files, config.loss));
    PP_ASSIGN_OR_RETURN(setup_, MakeSetup(module, std::move(made.model), config,
                                          made.default_batch));
    return OkStatus();
  });
}

Result<std::unique_ptr<Engine>> TorchEngineFactory::Create(Rank rank) {
  if (!setup_) return Fail(NotPrepared());
  return TorchEngine::Create(setup_, rank);
}

Result<std::unique_ptr<Reference>> TorchEngineFactory::CreateReference() {
  if (!setup_) return Fail(NotPrepared());
  return TorchReference::Create(setup_);
}

}  // namespace pp::engine::torch_engine
