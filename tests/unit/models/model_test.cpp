#include "runtime/models/model.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "runtime/models/registry.h"

namespace pp::models {
namespace {

class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    path_ = ::testing::TempDir() + "model_test_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Text(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "in the beginning was the word; ";
  return text.substr(0, bytes);
}

const GivenOptions kSmall = {
    {"layers", "5"}, {"dim", "8"}, {"heads", "2"}, {"context", "6"}};

std::map<std::string, at::Tensor> Parameters(const Model& model,
                                             uint32_t stages) {
  std::map<std::string, at::Tensor> all;
  const auto ranges = Partition("test", model.Layers(), stages);
  EXPECT_TRUE(ranges);
  for (const LayerRange& range : *ranges) {
    ParameterStore store(3);
    const auto stage = model.BuildStage(range, store);
    for (const auto& p : store.parameters()) {
      const auto [at, fresh] = all.emplace(p->name, p->value);
      // Only tied weights may be on two stages, with the same bits.
      EXPECT_TRUE(fresh || at->second.equal(p->value)) << p->name;
    }
  }
  return all;
}

TEST(ModelTest, InitialWeightsDoNotDependOnThePartition) {
  const TextFile file(Text(1000));
  for (const char* tie : {"0", "1"}) {
    GivenOptions options = kSmall;
    options.emplace_back("tie", tie);
    const auto made = MakeModel("gpt", options, 3, file.path());
    ASSERT_TRUE(made) << made.error().message();
    const auto whole = Parameters(*made->model, 1);
    for (uint32_t stages : {2u, 3u, 5u}) {
      const auto cut = Parameters(*made->model, stages);
      ASSERT_EQ(cut.size(), whole.size());
      for (const auto& [name, value] : whole) {
        ASSERT_TRUE(cut.contains(name)) << name;
        EXPECT_TRUE(cut.at(name).equal(value)) << name;
      }
    }
    EXPECT_EQ(whole.contains("head.weight"), *tie == '0');
    EXPECT_TRUE(whole.contains("blocks.3.attn.qkv.weight"));
  }
}

TEST(ModelTest, InitialWeightsDependOnSeedAndName) {
  ParameterStore one(1), two(2);
  const at::Tensor a = one.Use({"a", {4, 4}, {1.0}})->value;
  const at::Tensor b = one.Use({"b", {4, 4}, {1.0}})->value;
  EXPECT_FALSE(a.equal(b));
  EXPECT_FALSE(a.equal(two.Use({"a", {4, 4}, {1.0}})->value));
}

TEST(ModelTest, TargetsAreTheNextBytes) {
  const TextFile file(Text(1000));
  const auto made = MakeModel("gpt", kSmall, 3, file.path());
  ASSERT_TRUE(made);
  const at::Tensor in = made->model->Input(4, 3);
  const at::Tensor out = made->model->Target(4, 3);
  EXPECT_TRUE(in.narrow(1, 1, 5).equal(out.narrow(1, 0, 5)));
  EXPECT_TRUE(in.equal(made->model->Input(4, 3)));
  EXPECT_FALSE(in.equal(made->model->Input(5, 3)));
  // A row does not depend on how many rows there are.
  EXPECT_TRUE(in.narrow(0, 0, 2).equal(made->model->Input(4, 2)));
}

TEST(ModelTest, ShortDataIsRefusedWithNumbers) {
  const TextFile file(Text(18));
  const auto made = MakeModel("gpt", kSmall, 3, file.path());
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->model->CheckBatch(2).ok());  // 2 * 6 + 1
  const Status status = made->model->CheckBatch(3);
  EXPECT_EQ(status.code(), StatusCode::kInput);
  EXPECT_NE(status.message().find("18 bytes"), std::string::npos);
  EXPECT_NE(status.message().find("at least 19"), std::string::npos);
}

TEST(ModelTest, MissingDataIsRefused) {
  const auto none = MakeModel("gpt", kSmall, 3, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), StatusCode::kUsage);
  EXPECT_NE(none.error().message().find("--data"), std::string::npos);
  const auto gone = MakeModel("gpt", kSmall, 3, "/nonexistent.txt");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message().find("/nonexistent.txt: no such file"),
            std::string::npos);
  const auto folder = MakeModel("gpt", kSmall, 3, "/");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message().find("not a file"), std::string::npos);
  EXPECT_FALSE(MakeModel("mlp", {}, 3, "/some/text"));
}

TEST(ModelTest, UnknownModelsAndMisfitsAreRefused) {
  const auto unknown = MakeModel("gtp", {}, 1, "");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("did you mean `gpt`"),
            std::string::npos);
  const auto misfit = MakeModel("gpt", {{"dim", "10"}, {"heads", "4"}}, 1, "x");
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message().find("dim 10"), std::string::npos);
}

TEST(ModelTest, MlpShapes) {
  const auto made = MakeModel("mlp", {{"layers", "3"}, {"dim", "4"}}, 1, "");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->model->Input(0, 5).sizes(),
            made->model->Target(0, 5).sizes());
  EXPECT_EQ(made->model->UnitsPerRow(), 4);
}

}  // namespace
}  // namespace pp::models
