#include "runtime/engine/synthetic/synthetic.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/engine/synthetic/device_engine.h"
#include "runtime/engine/synthetic/host_engine.h"

namespace pp::engine::synthetic {
namespace {

Status CheckFault(const char* name, const std::optional<Fault>& fault,
                  const bytecode::Module& module) {
  if (!fault) return OkStatus();
  if (fault->rank.value < module.ranks() &&
      fault->mb.value < module.micro_batches) {
    return OkStatus();
  }
  return UsageError(fmt::format(
      "option '{}={}:{}{}': the schedule has ranks 0..{} and micro-batches "
      "0..{}",
      name, fault->rank.value, fault->operation, fault->mb.value,
      module.ranks() - 1, module.micro_batches - 1));
}

Status CheckAgainst(const bytecode::Module& module, const Setup& setup) {
  if (setup.batch < module.micro_batches) {
    return UsageError(
        fmt::format("a batch of {} rows cannot be split into {} micro-batches",
                    setup.batch, module.micro_batches));
  }
  for (const auto& [stage, factor] : setup.options.stage_factor) {
    if (stage >= module.stages) {
      return UsageError(
          fmt::format("option 's{}={}': the schedule has stages 0..{}", stage,
                      factor, module.stages - 1));
    }
  }
  PP_RETURN_IF_ERROR(CheckFault("fail", setup.options.fail, module));
  return CheckFault("hang", setup.options.hang, module);
}

class Factory final : public EngineFactory {
 public:
  Status Prepare(const bytecode::Module& module,
                 const EngineConfig& config) override {
    PP_RETURN_IF_ERROR(OpenDevices(module, config));
    auto setup = std::make_shared<Setup>();
    setup->module = &module;
    PP_ASSIGN_OR_RETURN(setup->options, ParseOptions(config.options));
    setup->batch = config.batch == 0 ? module.micro_batches : config.batch;
    PP_RETURN_IF_ERROR(CheckAgainst(module, *setup));
    setup_ = std::move(setup);
    return OkStatus();
  }

  Result<std::unique_ptr<Engine>> Create(Rank rank) override {
    if (timebases_.empty()) {
      return std::make_unique<HostEngine>(setup_, rank);
    }
    return DeviceEngine::Create(setup_, rank,
                                timebases_[rank.value % timebases_.size()]);
  }

  Result<std::unique_ptr<Reference>> CreateReference() override {
    return Fail(UsageError(
        "the synthetic model has no gradients to verify: use another --model"));
  }

 private:
  Status OpenDevices(const bytecode::Module& module,
                     const EngineConfig& config) {
    if (config.device == "cpu") return OkStatus();
    if (config.driver == nullptr) {
      return UsageError(
          "the synthetic model runs on --device cpu or cuda, "
          "not '" +
          config.device + "'");
    }
    const uint32_t devices =
        std::min(config.gpu ? 1 : config.driver->devices(), module.ranks());
    for (uint32_t d = 0; d < devices; ++d) {
      PP_ASSIGN_OR_RETURN(
          auto timebase,
          device::Timebase::Create(config.driver, config.gpu.value_or(d)));
      timebases_.push_back(std::move(timebase));
    }
    return OkStatus();
  }

  std::shared_ptr<const Setup> setup_;
  // By GPU in use; none: on the CPU.
  std::vector<std::shared_ptr<const device::Timebase>> timebases_;
};

}  // namespace

std::unique_ptr<EngineFactory> CreateFactory() {
  return std::make_unique<Factory>();
}

}  // namespace pp::engine::synthetic
