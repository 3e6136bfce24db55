#include "runtime/launch/options.h"

#include <gtest/gtest.h>

namespace pp::launch {
namespace {

Result<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "pprun");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, DefaultsNeedNothingButTheProgram) {
  const auto line = Parse({"a.ppb"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->options.program, "a.ppb");
  EXPECT_EQ(line->options.engine.model, "synthetic");
  EXPECT_EQ(line->options.transport, "");  // settled when the world is known
  EXPECT_FALSE(line->print);
}

TEST(Options, TakesEverything) {
  const auto line =
      Parse({"a.ppb",    "--model",     "gpt",     "--model-opt",
             "x=1=2",    "--data",      "t.txt",   "--steps",
             "7",        "--batch",     "32",      "--seed",
             "5",        "--optimizer", "sgd",     "--lr",
             "0.5",      "--device",    "cpu",     "--transport",
             "inproc",   "--report",    "r.json",  "--trace",
             "t.json",   "--timeout",   "1.5",     "--verify-gradients",
             "--layers", "8",           "--heads", "2",
             "--tie",    "--model-opt", "y=z"});
  ASSERT_TRUE(line) << line.error().message();
  const Options& options = line->options;
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(options.engine.options, (Pairs{{"x", "1=2"},
                                           {"y", "z"},
                                           {"layers", "8"},
                                           {"heads", "2"},
                                           {"tie", "1"}}));
  EXPECT_EQ(options.engine.batch, 32u);
  EXPECT_EQ(options.engine.seed, 5u);
  EXPECT_EQ(options.engine.optimizer, "sgd");
  EXPECT_EQ(options.engine.learning_rate, 0.5);
  EXPECT_EQ(options.steps, 7u);
  EXPECT_EQ(options.timeout_s, 1.5);
  EXPECT_EQ(options.report, "r.json");
  EXPECT_TRUE(options.verify_gradients);
}

TEST(Options, TorchScriptStagesStandBesideTheProgram) {
  const std::vector<std::string> stages = {"a.pt", "b.pt", "c.pt"};
  for (const auto& line :
       {Parse({"x.ppb", "--model", "a.pt", "b.pt", "c.pt", "--steps", "2"}),
        Parse({"--model", "a.pt", "b.pt", "c.pt", "x.ppb", "--loss", "mse"})}) {
    ASSERT_TRUE(line) << line.error().message();
    EXPECT_EQ(line->options.program, "x.ppb");
    EXPECT_EQ(line->options.engine.model, "script");
    EXPECT_EQ(line->options.engine.stage_files, stages);
  }
}

TEST(Options, AWrongCommandLineIsUsage) {
  const std::vector<std::vector<const char*>> wrong = {
      {},
      {"a.ppb", "b.ppb"},
      {"a.ppb", "b.pt"},
      {"--model", "a.pt", "b.pt"},
      {"a.ppb", "--loss", "mse"},
      {"a.ppb", "--save", "w"},
      {"a.ppb", "--bogus"},
      {"a.ppb", "--steps", "0"},
      {"a.ppb", "--steps", "-1"},
      {"a.ppb", "--steps", "x"},
      {"a.ppb", "--timeout", "0"},
      {"a.ppb", "--timeout", "nan"},
      {"a.ppb", "--lr", "-1"},
      {"a.ppb", "--optimizer", "adam"},
      {"a.ppb", "--model-opt", "layers"},
      {"a.ppb", "--model-opt", "=3"},
      {"a.ppb", "--batch", "0"},
      {"a.ppb", "--seed", "-1"}};
  for (const auto& arguments : wrong) {
    const auto line = Parse(arguments);
    ASSERT_FALSE(line) << testing::PrintToString(arguments);
    EXPECT_EQ(line.error().code(), StatusCode::kUsage);
    EXPECT_FALSE(line.error().message().empty());
  }
}

TEST(Options, HelpListsModelsTransportsAndSyntheticOptions) {
  const auto line = Parse({"--help"});
  ASSERT_TRUE(line && line->print);
  for (const char* part :
       {"synthetic", "inproc", "act_after_i", "--report", "exit status"}) {
    EXPECT_NE(line->print->find(part), std::string::npos) << part;
  }
  const auto version = Parse({"--version"});
  ASSERT_TRUE(version && version->print);
  EXPECT_EQ(version->print->rfind("pprun ", 0), 0u);
}

}  // namespace
}  // namespace pp::launch
