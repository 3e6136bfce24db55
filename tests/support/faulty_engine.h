// An engine that does nothing at once, and fails or blocks where a test says.
#pragma once

#include <functional>
#include <memory>

#include "runtime/engine/engine.h"

namespace pp::test {

// Called for each compute operation of a rank before it "runs".
using Hook =
    std::function<Status(Rank rank, char operation, const engine::Work& work)>;

class HookEngine : public engine::Engine {
 public:
  HookEngine(Rank rank, Hook hook) : rank_(rank), hook_(std::move(hook)) {}

  Status BeginStep(uint64_t) override { return OkStatus(); }
  Status Forward(const engine::Work& work) override { return Run('F', work); }
  Status Backward(const engine::Work& work) override { return Run('B', work); }
  Status BackwardInput(const engine::Work& work) override {
    return Run('I', work);
  }
  Status BackwardWeight(const engine::Work& work) override {
    return Run('W', work);
  }
  Status Scale(ChunkId) override { return OkStatus(); }
  Result<std::vector<Buffer>> Reducible(const bytecode::Group&) override {
    return std::vector<Buffer>{};
  }
  Status Update(ChunkId) override { return OkStatus(); }
  Result<Buffer> Allocate(bytecode::Payload, StageId, MicroBatch) override {
    const auto byte = std::make_shared<std::byte>();
    return Buffer{byte.get(), 1, byte};
  }
  void Adopt(Buffer&) override {}
  std::vector<std::pair<MicroBatch, double>> Losses() const override {
    return {};
  }
  double LossUnits() const override { return 1; }
  void VisitGradients(
      const std::function<void(const engine::GradientView&)>&) const override {}
  engine::MemoryReport Memory() const override { return {}; }

 private:
  Status Run(char operation, const engine::Work& work) {
    if (hook_) PP_RETURN_IF_ERROR(hook_(rank_, operation, work));
    if (work.out != nullptr) {
      PP_ASSIGN_OR_RETURN(*work.out, Allocate({}, StageId(0), work.mb));
    }
    return OkStatus();
  }

  Rank rank_;
  Hook hook_;
};

class HookFactory : public engine::EngineFactory {
 public:
  explicit HookFactory(Hook hook = nullptr) : hook_(std::move(hook)) {}
  Status Prepare(const bytecode::Module&,
                 const engine::EngineConfig&) override {
    return OkStatus();
  }
  Result<std::unique_ptr<engine::Engine>> Create(Rank rank) override {
    return std::make_unique<HookEngine>(rank, hook_);
  }
  Result<std::unique_ptr<engine::Reference>> CreateReference() override {
    return Fail(UsageError("no mathematics"));
  }

 private:
  Hook hook_;
};

}  // namespace pp::test
