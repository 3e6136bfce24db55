// pprun as its users see it: files in, output, exit status, files out.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

class Pprun : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/pprunXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Program(const char* schedule, int ranks, int micro_batches) {
    const std::string path = folder_ / (std::string(schedule) + ".ppb");
    const std::string command = std::string(PP_MAKE_PROGRAM) + " " + schedule +
                                " " + std::to_string(ranks) + " " +
                                std::to_string(micro_batches) + " " + path;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return path;
  }

  std::string File(const char* name) { return folder_ / name; }

  std::string Line(const std::string& arguments) {
    return std::string(PP_PPRUN) + " " + arguments + " >" + File("out") +
           " 2>" + File("err");
  }

  Outcome Run(const std::string& arguments) {
    const int raw = std::system(Line(arguments).c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, Read(File("out")),
            Read(File("err"))};
  }

  fs::path folder_;
};

constexpr const char kFast[] =
    " --model-opt f=1ms --model-opt i=1ms --model-opt w=1ms";

TEST_F(Pprun, RunsAndWritesReportAndTrace) {
  const Outcome outcome =
      Run(Program("one_f_one_b", 4, 8) + " --steps 3 --report " +
          File("run.json") + " --trace " + File("trace.json") + kFast);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("one_f_one_b (P=4 M=8)"), std::string::npos);
  EXPECT_NE(outcome.err.find("step 3/3"), std::string::npos);
  const json report = json::parse(Read(File("run.json")));
  EXPECT_EQ(report["steps"].size(), 3u);
  EXPECT_EQ(report["model_options"]["f"], "1ms");
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(report["ranks"][r]["peak_activations"], 4 - r);
    EXPECT_EQ(report["ranks"][r]["peak_activations_predicted"], 4 - r);
  }
  const json trace = json::parse(Read(File("trace.json")));
  int computes = 0;
  for (const json& event : trace["traceEvents"]) {
    computes += event.value("cat", "") == "compute";
  }
  EXPECT_EQ(computes, 3 * 4 * 8 * 2);
}

// Uneven stages: rank 1 works twice as long, and waiting is not work
// (zero-bubble-pipeline-parallelism #25).
TEST_F(Pprun, WaitIsToldFromWork) {
  const Outcome outcome =
      Run(Program("gpipe", 2, 2) +
          " --steps 2 --model-opt f=10ms --model-opt b=20ms --model-opt s1=2"
          " --report " +
          File("run.json") + " --trace " + File("trace.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(Read(File("run.json")));
  EXPECT_NEAR(report["ranks"][0]["busy_s"], 0.060, 0.006);
  EXPECT_NEAR(report["ranks"][1]["busy_s"], 0.120, 0.006);
  // Rank 0's track: compute and wait spans fill the step.
  const json trace = json::parse(Read(File("trace.json")));
  double covered = 0, first = 1e18, last = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["pid"] != 0 || event["tid"] != 0) continue;
    if (event["args"]["step"] != 1) continue;
    const double begin = event["ts"], length = event["dur"];
    covered += length;
    first = std::min(first, begin);
    last = std::max(last, begin + length);
  }
  EXPECT_NEAR(covered / (last - first), 1, 0.05);
}

TEST_F(Pprun, AFailedRankIsExitFourWithItsPlace) {
  const Outcome outcome =
      Run(Program("gpipe", 4, 8) + " --model-opt fail=2:F3 --report " +
          File("run.json") + kFast);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.err.find("pprun: error: rank 2, step 0, pc "),
            std::string::npos);
  EXPECT_NE(outcome.err.find("`forward c0 m3 "), std::string::npos);
  EXPECT_NE(outcome.err.find("test.sched:12:5"), std::string::npos);
  const json report = json::parse(Read(File("run.json")));
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["positions"].size(), 4u);
}

TEST_F(Pprun, AHangEndsWithinTheTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = Run(Program("lost", 2, 1) + " --timeout 0.5" + kFast);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.err.find("no progress for 0.5 s"), std::string::npos);
  EXPECT_NE(outcome.err.find("waits for act s0 m0 from rank 0"),
            std::string::npos);
}

TEST_F(Pprun, ARankStuckInItsWorkEndsWithTheProcess) {
  const Outcome outcome = Run(Program("gpipe", 2, 2) +
                              " --model-opt hang=1:B0 --timeout 0.3" + kFast);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.err.find("rank 1 has been in pc "), std::string::npos);
  EXPECT_NE(outcome.err.find("`backward c0 m0 "), std::string::npos);
}

TEST_F(Pprun, ASignalEndsInOrderAndNotWithZero) {
  const std::string program = Program("gpipe", 2, 2);
  for (const int number : {SIGINT, SIGTERM}) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string line =
          "exec " + Line(program + " --steps 1000000" + " --report " +
                         File("run.json") + kFast);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(99);
    }
    // Once it runs: the first steps have been told.
    for (int i = 0; i < 500 && Read(File("err")).empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_EQ(kill(child, number), 0);
    int raw = 0;
    ASSERT_EQ(waitpid(child, &raw, 0), child);
    ASSERT_TRUE(WIFEXITED(raw));
    EXPECT_EQ(WEXITSTATUS(raw), 4);
    EXPECT_NE(Read(File("err")).find("stopped by SIG"), std::string::npos);
    const json report = json::parse(Read(File("run.json")));
    EXPECT_GE(report["steps"].size(), 1u);
    fs::remove(File("err"));
  }
}

TEST_F(Pprun, FaultsOfInputUsageAndMachineHaveTheirOwnStatus) {
  const std::string program = Program("gpipe", 2, 2);
  std::ofstream(File("text.ppb")) << "not bytecode";
  EXPECT_EQ(Run(File("text.ppb")).status, 1);
  EXPECT_EQ(Run(program + " --bogus").status, 2);
  EXPECT_EQ(Run(program + " --transport inprok").status, 2);
  EXPECT_EQ(Run(program + " --verify-gradients").status, 2);
  EXPECT_EQ(Run(program + " --model-opt g=1ms").status, 2);
  EXPECT_EQ(Run(File("none.ppb")).status, 1);
  EXPECT_EQ(Run(program + " --report " + File("no/such/run.json")).status, 3);
}

// On a machine with a GPU it runs; on one without it says what is missing.
TEST_F(Pprun, DeviceCudaRunsOrSaysWhyItCannot) {
  const Outcome run = Run(Program("gpipe", 4, 4) + " --device cuda --steps 2");
  if (run.status == 0) {
    EXPECT_NE(run.out.find("bubble_fraction"), std::string::npos);
    return;
  }
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_EQ(run.err.find("pprun: error: --device cuda: "), 0u) << run.err;
}

TEST_F(Pprun, TransportsAndDevicesThatDoNotGoTogetherAreUsage) {
  const std::string program = Program("gpipe", 2, 2);
  const Outcome nccl = Run(program + " --nproc 2 --transport nccl");
  EXPECT_EQ(nccl.status, 2);
  EXPECT_NE(nccl.err.find("--transport nccl needs --device cuda"),
            std::string::npos)
      << nccl.err;
  const Outcome gloo =
      Run(program + " --nproc 2 --transport gloo --device cuda");
  EXPECT_EQ(gloo.status, 2);
  EXPECT_NE(gloo.err.find("--transport gloo carries no GPU memory"),
            std::string::npos)
      << gloo.err;
}

}  // namespace
