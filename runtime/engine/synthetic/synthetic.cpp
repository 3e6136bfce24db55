#include "runtime/engine/synthetic/synthetic.h"

#include <fmt/format.h>

#include "runtime/engine/synthetic/rank_engine.h"

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
    if (config.device != "cpu") {
      return UsageError("the synthetic model runs on --device cpu, not '" +
                        config.device + "'");
    }
    auto setup = std::make_shared<Setup>();
    setup->module = &module;
    PP_ASSIGN_OR_RETURN(setup->options, ParseOptions(config.options));
    setup->batch = config.batch == 0 ? module.micro_batches : config.batch;
    PP_RETURN_IF_ERROR(CheckAgainst(module, *setup));
    setup_ = std::move(setup);
    return OkStatus();
  }

  Result<std::unique_ptr<Engine>> Create(Rank rank) override {
    return std::make_unique<RankEngine>(setup_, rank);
  }

  Result<std::unique_ptr<Reference>> CreateReference() override {
    return Fail(UsageError(
        "the synthetic model has no gradients to verify: use another --model"));
  }

 private:
  std::shared_ptr<const Setup> setup_;
};

}  // namespace

std::unique_ptr<EngineFactory> CreateFactory() {
  return std::make_unique<Factory>();
}

}  // namespace pp::engine::synthetic
