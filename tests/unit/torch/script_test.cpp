// TorchScript stages: trained as the unpipelined run trains them, and told
// apart from what is none.
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/weights/safetensors.h"
#include "tests/unit/torch/pipeline_harness.h"

namespace pp::engine::torch_engine {
namespace {

class Script : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/scriptXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Linear("a.pt", 3, 5);
    Linear("b.pt", 5, 4);
    Linear("c.pt", 4, 6);
    Linear("d.pt", 6, 2);
    Data("d.st", 3, 2);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }

  // tanh(x w + b), or what `body` says.
  void Linear(const std::string& name, int64_t in, int64_t out,
              const std::string& body = "torch.tanh(x.matmul(self.w) + self.b)",
              bool learns = true) {
    torch::jit::Module module("M");
    at::Tensor w = at::arange(in * out).to(at::kFloat).view({in, out}).sin();
    at::Tensor b = at::ones({out}).div(8);
    module.register_parameter("w", w.set_requires_grad(learns), false);
    module.register_parameter("b", b.set_requires_grad(learns), false);
    module.define("def forward(self, x):\n    return " + body + "\n");
    module.save(At(name));
  }

  void Data(const std::string& name, int64_t in, int64_t out,
            int64_t rows = 12) {
    std::vector<float> x, y;
    for (int64_t i = 0; i < rows * in; ++i) x.push_back(0.1f * (i % 7) - 0.3f);
    for (int64_t i = 0; i < rows * out; ++i) y.push_back(0.2f * (i % 5) - 0.4f);
    const std::vector<weights::TensorView> tensors = {
        {"input", {rows, in}, x}, {"target", {rows, out}, y}};
    ASSERT_TRUE(weights::Write(At(name), tensors).ok());
  }

  EngineConfig Config(std::vector<std::string> files) const {
    EngineConfig config;
    config.model = "script";
    for (const std::string& file : files) {
      config.stage_files.push_back(At(file));
    }
    config.data = At("d.st");
    config.batch = 7;
    return config;
  }

  static void ExpectTheReference(Plan plan, const EngineConfig& config) {
    Pipeline pipeline(std::move(plan), config);
    for (uint64_t step = 0; step < 3; ++step) {
      const double loss = pipeline.Step(step);
      EXPECT_EQ(loss, pipeline.ReferenceStep(step));
      EXPECT_EQ(pipeline.GradientsNow(), pipeline.ReferenceGradients());
      ASSERT_TRUE(pipeline.reference().Update().ok());
    }
  }

  std::string Complaint(const EngineConfig& config, StatusCode code) const {
    TorchEngineFactory factory;
    const Status status = factory.Prepare(ModuleOf(GpipePlan(2, 2)), config);
    EXPECT_EQ(status.code(), code) << status.message();
    return status.message();
  }

  std::string folder_;
};

TEST_F(Script, GradientsAreThoseOfOneProcess) {
  const EngineConfig config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  ExpectTheReference(GpipePlan(4, 3), config);
  ExpectTheReference(OneFOneBPlan(4, 3, false), config);
  ExpectTheReference(OneFOneBPlan(4, 3, true), config);  // I and W apart
  ExpectTheReference(VeePlan(3), config);
  ExpectTheReference(GpipePlan(2, 3), config);  // two files a stage
}

TEST_F(Script, GradientsAreThoseOfTheLoss) {
  EngineConfig config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  config.batch = 2;
  Pipeline pipeline(OneFOneBPlan(4, 2, true), config);
  const double loss = pipeline.Step(0);
  // One process, no engine: the modules as they are.
  at::AutoGradMode grad_mode(true);
  const auto file = weights::File::Open(At("d.st"));
  std::vector<float> x(36), y(24);
  ASSERT_TRUE((*file)->Read("input", x).ok());
  ASSERT_TRUE((*file)->Read("target", y).ok());
  at::Tensor h = at::from_blob(x.data(), {12, 3}).narrow(0, 0, 2);
  std::vector<torch::jit::Module> modules;
  for (const char* name : {"a.pt", "b.pt", "c.pt", "d.pt"}) {
    modules.push_back(torch::jit::load(At(name)));
    h = modules.back().forward({h}).toTensor();
  }
  const at::Tensor target = at::from_blob(y.data(), {12, 2}).narrow(0, 0, 2);
  const at::Tensor mean = (h - target).square().mean();
  mean.backward();
  EXPECT_NEAR(loss, mean.item<double>(), 1e-6);
  const Gradients got = pipeline.GradientsNow();
  EXPECT_EQ(got.size(), 8u);
  for (size_t s = 0; s < modules.size(); ++s) {
    const at::Tensor want = modules[s].attr("w").toTensor().grad();
    const auto& have = got.at("stage" + std::to_string(s) + ".w");
    ASSERT_EQ(static_cast<int64_t>(have.size()), want.numel());
    for (size_t i = 0; i < have.size(); ++i) {
      EXPECT_NEAR(have[i], want.view(-1)[static_cast<int64_t>(i)].item<float>(),
                  1e-6);
    }
  }
}

TEST_F(Script, TheLossMayBeAModule) {
  torch::jit::Module loss("L");
  loss.define("def forward(self, y, t):\n    return (y - t).abs()\n");
  loss.save(At("loss.pt"));
  EngineConfig config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  config.loss = At("loss.pt");
  ExpectTheReference(OneFOneBPlan(4, 3, true), config);
}

TEST_F(Script, WhatDoesNotFitIsSaid) {
  const auto says = [&](const EngineConfig& config, const char* text,
                        StatusCode code = StatusCode::kInput) {
    const std::string message = Complaint(config, code);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says(Config({"a.pt", "none.pt"}), "none.pt`: no such file");
  std::ofstream(At("text.pt")) << "no module";
  says(Config({"a.pt", "text.pt"}), "cannot be read as TorchScript");
  says(Config({"a.pt", "c.pt"}), "c.pt` cannot take Float [1, 5] of `");
  says(Config({"b.pt", "c.pt"}), "cannot take Float [1, 3] of the data");
  Linear("still.pt", 5, 2, "x.matmul(self.w)", false);
  says(Config({"a.pt", "still.pt"}), "has no parameters that can learn");
  Linear("sum.pt", 5, 2, "x.matmul(self.w).sum()");
  says(Config({"a.pt", "sum.pt"}), "not a float32 tensor with a row");
  says(Config({"a.pt", "b.pt"}), "the loss cannot take Float [1, 4]");
  EngineConfig config = Config({"a.pt"});
  Linear("only.pt", 3, 2);
  config = Config({"only.pt"});
  says(config, "1 layer", StatusCode::kUsage);
  config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  config.loss = "mes";
  says(config, "did you mean `mse`", StatusCode::kUsage);
  config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  config.data = "";
  says(config, "--data FILE", StatusCode::kUsage);
  config.data = At("a.pt");
  says(config, "no whole safetensors file");
  config = Config({"a.pt", "b.pt", "c.pt", "d.pt"});
  config.batch = 13;
  says(config, "the data have 12", StatusCode::kUsage);
  config = Config({});
  says(config, "--model stage0.pt", StatusCode::kUsage);
}

}  // namespace
}  // namespace pp::engine::torch_engine
