// The engine as on a GPU, with a queue, while its tensors stay on the CPU: what
// is only there at the end of a step, and that nothing changes in the numbers.
#include <gtest/gtest.h>

#include "runtime/engine/torch/factory.h"
#include "runtime/engine/torch/reference.h"
#include "runtime/engine/torch/torch_engine.h"
#include "runtime/launch/run_threads.h"
#include "runtime/models/registry.h"
#include "runtime/transport/inproc/inproc.h"
#include "tests/support/fake_device.h"
#include "tests/support/programs.h"

namespace pp::engine::torch_engine {
namespace {

class Factory final : public EngineFactory {
 public:
  explicit Factory(std::shared_ptr<const Setup> setup)
      : setup_(std::move(setup)) {}
  Status Prepare(const bytecode::Module&, const EngineConfig&) override {
    return OkStatus();
  }
  Result<std::unique_ptr<Engine>> Create(Rank rank) override {
    return TorchEngine::Create(setup_, rank);
  }
  Result<std::unique_ptr<Reference>> CreateReference() override {
    return TorchReference::Create(setup_);
  }

 private:
  std::shared_ptr<const Setup> setup_;
};

// A setup of the model mlp; on `fake` where it is given.
std::shared_ptr<const Setup> MlpSetup(const bytecode::Module& module,
                                      std::shared_ptr<test::FakeDevice> fake) {
  EngineConfig config;
  config.model = "mlp";
  auto made = models::MakeModel("mlp", {}, 1, "");
  EXPECT_TRUE(made);
  auto setup = MakeSetup(module, made->model, config, made->default_batch);
  EXPECT_TRUE(setup) << setup.error().message();
  auto copy = std::make_shared<Setup>(**setup);
  if (fake != nullptr) {
    auto base = device::Timebase::Create(std::move(fake), 0);
    copy->gpus = std::make_shared<Gpus>(
        std::vector<std::shared_ptr<const device::Timebase>>{*base});
  }
  return copy;
}

launch::RunResult RunAll(const bytecode::Module& module,
                         std::shared_ptr<test::FakeDevice> fake) {
  Factory factory(MlpSetup(module, std::move(fake)));
  return launch::RunThreads(module, factory,
                            transport::inproc::Create(module.ranks()),
                            {.steps = 3, .verify_gradients = true});
}

TEST(Queued, LossesAndGradientsAreThoseWithoutAQueue) {
  for (const auto& module :
       {test::GPipe(2, 4), test::OneFOneB(3, 4), test::SplitGPipe(2, 4)}) {
    const auto fake = std::make_shared<test::FakeDevice>();
    const launch::RunResult queued = RunAll(module, fake);
    const launch::RunResult direct = RunAll(module, nullptr);
    ASSERT_TRUE(queued.status.ok()) << queued.status.message();
    ASSERT_TRUE(direct.status.ok()) << direct.status.message();
    ASSERT_TRUE(queued.gradients && queued.gradients->bitwise_equal);
    EXPECT_TRUE(queued.gradients->losses_equal);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(queued.steps[i].loss, direct.steps[i].loss);
    }
    EXPECT_EQ(fake->live_objects(), 0u);
  }
}

TEST(Queued, LossesAreReadAtTheEndOfTheStep) {
  const auto module = test::GPipe(1, 1);
  const auto setup = MlpSetup(module, std::make_shared<test::FakeDevice>());
  auto engine = TorchEngine::Create(setup, Rank(0));
  ASSERT_TRUE(engine) << engine.error().message();
  ASSERT_TRUE((*engine)->BeginStep(0).ok());
  ASSERT_TRUE((*engine)->Forward({ChunkId(0), MicroBatch(0), StashId(0)}).ok());
  EXPECT_TRUE((*engine)->Losses().empty());
  ASSERT_TRUE((*engine)->EndStep().ok());
  EXPECT_EQ((*engine)->Losses().size(), 1u);
}

TEST(TorchCuda, IsThereOrTheMessageSaysWhatIsMissing) {
  const Status status = LoadTorchCuda();
  if (status.ok()) return;
  EXPECT_EQ(status.code(), StatusCode::kMachine);
  EXPECT_EQ(status.message().find("--device cuda: "), 0u) << status.message();
}

}  // namespace
}  // namespace pp::engine::torch_engine
