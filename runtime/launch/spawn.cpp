#include "runtime/launch/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/launch/connection.h"
#include "runtime/launch/signals.h"

namespace pp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr const char kTokenVariable[] = "PP_SPAWN_TOKEN";
constexpr const char kSocketVariable[] = "PP_SPAWN_SOCKET";
constexpr auto kGrace = seconds(7);  // rank 0 itself gives the others 5

std::string NewToken() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(),
                     random());
}

struct Child {
  pid_t process = -1;
  bool ended = false;
  bool killed_here = false;
};

// In the new process: becomes rank `rank`, never returns.
[[noreturn]] void BecomeRank(uint32_t rank, uint32_t ranks,
                             const Listener& listener, const std::string& token,
                             pid_t parent, char** argv) {
  // Nobody outlives the launcher, however that ends.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(4);
  const std::string number = std::to_string(rank);
  setenv("RANK", number.c_str(), 1);
  setenv("LOCAL_RANK", number.c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("LOCAL_WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(listener.port()).c_str(), 1);
  unsetenv("TORCHELASTIC_USE_AGENT_STORE");
  setenv(kTokenVariable, token.c_str(), 1);
  if (rank == 0) {
    fcntl(listener.socket(), F_SETFD, 0);  // kept over exec
    setenv(kSocketVariable, std::to_string(listener.socket()).c_str(), 1);
  }
  execv("/proc/self/exe", argv);
  fmt::print(stderr, "pprun: error: cannot start rank {}: {}\n", rank,
             std::strerror(errno));
  _exit(3);
}

class Launcher {
 public:
  explicit Launcher(uint32_t ranks) : children_(ranks) {}

  bool Start(const Listener& listener, const std::string& token, char** argv) {
    const pid_t self = getpid();
    const auto ranks = static_cast<uint32_t>(children_.size());
    for (uint32_t r = 0; r < ranks; ++r) {
      const pid_t process = fork();
      if (process == 0) BecomeRank(r, ranks, listener, token, self, argv);
      if (process < 0) {
        fmt::print(stderr, "pprun: error: cannot start rank {}: {}\n", r,
                   std::strerror(errno));
        KillAll();
        return false;
      }
      children_[r].process = process;
    }
    return true;
  }

  int Wait() {
    while (Left() > 0) {
      Reap();
      PassSignalOn();
      if (deadline_ && steady_clock::now() > *deadline_) KillAll();
      std::this_thread::sleep_for(milliseconds(5));
    }
    return Conclude();
  }

 private:
  size_t Left() const {
    size_t left = 0;
    for (const Child& child : children_) {
      left += !child.ended && child.process > 0;
    }
    return left;
  }

  void Reap() {
    for (uint32_t r = 0; r < children_.size(); ++r) {
      Child& child = children_[r];
      int status = 0;
      if (child.ended || child.process <= 0 ||
          waitpid(child.process, &status, WNOHANG) != child.process) {
        continue;
      }
      child.ended = true;
      Ended(r, child, status);
    }
  }

  void Ended(uint32_t rank, const Child& child, int status) {
    const bool killed = WIFSIGNALED(status);
    if (killed && !child.killed_here) {
      causes_.push_back(fmt::format(
          "rank {} (process {}) was killed by signal "
          "{} ({})",
          rank, child.process, WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else if (child.killed_here) {
      causes_.push_back(
          fmt::format("rank {} (process {}) did not end and was "
                      "killed",
                      rank, child.process));
    }
    const int code = killed ? 4 : WEXITSTATUS(status);
    // A process that ends by itself says why.
    if (code != 0 && causes_.empty()) said_ = true;
    if (code != 0 && code_ == 0) code_ = code;
    if (code != 0 && !deadline_) deadline_ = steady_clock::now() + kGrace;
    // Rank 0 has given the others their time and told of them.
    if (rank == 0 && deadline_) {
      deadline_ = std::min(*deadline_, steady_clock::now() + seconds(2));
    }
  }

  void PassSignalOn() {
    const char* signal = CaughtSignal();
    if (signal == nullptr || passed_on_) return;
    passed_on_ = true;
    deadline_ = steady_clock::now() + kGrace;
    const int number = std::strcmp(signal, "SIGINT") == 0 ? SIGINT : SIGTERM;
    for (const Child& child : children_) {
      if (!child.ended && child.process > 0) kill(child.process, number);
    }
  }

  void KillAll() {
    for (Child& child : children_) {
      if (child.ended || child.process <= 0) continue;
      child.killed_here = true;
      kill(child.process, SIGKILL);
    }
  }

  // The first cause, last: the line that is left on a screen.
  int Conclude() const {
    std::fflush(stdout);
    for (size_t i = causes_.size(); i-- > 0;) {
      fmt::print(stderr, "pprun: {}{}\n",
                 i == 0 && !said_ ? "first cause: " : "", causes_[i]);
    }
    if (code_ == 0 && passed_on_) return 4;
    return code_;
  }

  std::vector<Child> children_;
  std::vector<std::string> causes_;
  std::optional<Deadline> deadline_;
  int code_ = 0;
  bool said_ = false;  // the first that failed told the cause itself
  bool passed_on_ = false;
};

}  // namespace

std::optional<Spawned> ReadSpawned() {
  const char* token = std::getenv(kTokenVariable);
  if (token == nullptr) return std::nullopt;
  Spawned spawned{token, std::nullopt};
  if (const char* socket = std::getenv(kSocketVariable)) {
    spawned.listen_socket = std::atoi(socket);
  }
  return spawned;
}

int Spawn(uint32_t ranks, char** argv) {
  auto listener = Listener::On("127.0.0.1", 0);
  if (!listener) {
    fmt::print(stderr, "pprun: error: {}\n", listener.error().message());
    return ExitCode(listener.error());
  }
  CatchSignals();
  Launcher launcher(ranks);
  if (!launcher.Start(*listener, NewToken(), argv)) {
    launcher.Wait();
    return 3;
  }
  return launcher.Wait();
}

}  // namespace pp::launch
