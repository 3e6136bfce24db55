#include "runtime/launch/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace pp::launch {
namespace {

// The one global of the runtime: a signal handler can reach nothing else.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void OnSignal(int number) {
  if (caught.exchange(number) != 0) _exit(128 + number);
}

}  // namespace

void CatchSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const char* CaughtSignal() {
  switch (caught.load()) {
    case 0:
      return nullptr;
    case SIGINT:
      return "SIGINT";
    default:
      return "SIGTERM";
  }
}

}  // namespace pp::launch
