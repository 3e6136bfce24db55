#include "runtime/base/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace pp {
namespace {

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const bool names = line.rfind("model name", 0) == 0;
    const size_t colon = line.find(": ");
    if (names && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

uint32_t Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(CPU_COUNT(&set));
  }
  return static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

Machine ThisMachine() {
  Machine machine;
  machine.cpu = CpuName();
  machine.cores = Cores();
  machine.memory_bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  utsname name{};
  if (uname(&name) == 0) {
    machine.system = fmt::format("{} {}", name.sysname, name.release);
  }
  return machine;
}

std::string Describe(const Machine& machine) {
  constexpr double kGiB = 1024. * 1024 * 1024;
  return fmt::format("{}, {} core{}, {:.1f} GiB, {}", machine.cpu,
                     machine.cores, machine.cores == 1 ? "" : "s",
                     static_cast<double>(machine.memory_bytes) / kGiB,
                     machine.system);
}

}  // namespace pp
