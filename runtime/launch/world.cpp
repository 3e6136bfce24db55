#include "runtime/launch/world.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

namespace pp::launch {
namespace {

struct Names {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* other_size;  // where `size` is not set; or null
  const char* local_rank;
  const char* local_size;  // or null
};

constexpr Names kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", nullptr, "LOCAL_RANK",
     "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr,
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", nullptr, "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
     "SLURM_LOCALID", nullptr},
};
constexpr uint16_t kDefaultPort = 29500;  // torchrun's
constexpr uint32_t kMaxRanks = 65535;

Result<uint32_t> Number(const char* name, std::string_view text,
                        uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      value > most) {
    return Fail(UsageError(
        fmt::format("{}=`{}` is no number from 0 to {}", name, text, most)));
  }
  return value;
}

// The batch script of a Slurm job sees variables of the job, but is no task.
bool IsTask(const Names& names, const Environment& env) {
  return std::string_view(names.launcher) != "Slurm" ||
         env("SLURM_JOB_ID") == nullptr || env("SLURM_STEP_ID") != nullptr;
}

Result<std::optional<World>> ReadSet(const Names& names,
                                     const Environment& env) {
  const char* rank = env(names.rank);
  const char* size_name = names.size;
  const char* size = env(size_name);
  if (size == nullptr && names.other_size != nullptr) {
    size_name = names.other_size;
    size = env(size_name);
  }
  if ((rank == nullptr && size == nullptr) || !IsTask(names, env)) {
    return std::nullopt;
  }
  if (rank == nullptr || size == nullptr) {
    return Fail(UsageError(fmt::format(
        "{} is set but {} is not: half of what {} says",
        rank != nullptr ? names.rank : size_name,
        rank != nullptr ? names.size : names.rank, names.launcher)));
  }
  World world;
  world.launcher = names.launcher;
  PP_ASSIGN_OR_RETURN(world.rank.value, Number(names.rank, rank, kMaxRanks));
  PP_ASSIGN_OR_RETURN(world.ranks, Number(size_name, size, kMaxRanks));
  if (world.rank.value >= world.ranks) {
    return Fail(UsageError(fmt::format("{}={} is not below {}={}", names.rank,
                                       rank, size_name, size)));
  }
  world.local_rank = world.rank.value;
  if (const char* local = env(names.local_rank)) {
    PP_ASSIGN_OR_RETURN(world.local_rank,
                        Number(names.local_rank, local, kMaxRanks));
  }
  return world;
}

// "node[03-07,9],login" -> "node03".
std::string FirstHost(std::string_view list) {
  const size_t end = list.find_first_of("[,");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',') return host;
  const std::string_view inside = list.substr(end + 1);
  return host + std::string(inside.substr(0, inside.find_first_of("-,]")));
}

bool OnOneHost(const World& world, const Environment& env) {
  if (world.launcher == "Slurm") {
    const char* nodes = env("SLURM_STEP_NUM_NODES");
    return nodes == nullptr || std::strcmp(nodes, "1") == 0;
  }
  for (const Names& names : kLaunchers) {
    if (names.launcher != world.launcher) continue;
    const char* local = env(names.local_size);
    return local == nullptr || std::to_string(world.ranks) == local;
  }
  return true;
}

Status SetHost(World& world, const Environment& env) {
  if (const char* address = env("MASTER_ADDR")) {
    world.host = address;
    return OkStatus();
  }
  if (OnOneHost(world, env)) {
    world.host = "127.0.0.1";
    return OkStatus();
  }
  const char* nodes = env("SLURM_STEP_NODELIST");
  if (world.launcher == "Slurm" && nodes != nullptr) {
    world.host = FirstHost(nodes);
    return OkStatus();
  }
  return UsageError(
      fmt::format("{} started ranks on several hosts: set MASTER_ADDR to that "
                  "of rank 0",
                  world.launcher));
}

Status SetPort(World& world, const Environment& env) {
  if (const char* port = env("MASTER_PORT")) {
    PP_ASSIGN_OR_RETURN(const uint32_t number,
                        Number("MASTER_PORT", port, 65534));
    // There torchrun itself listens.
    const char* agent = env("TORCHELASTIC_USE_AGENT_STORE");
    const bool taken = agent != nullptr && std::strcmp(agent, "True") == 0;
    world.port = static_cast<uint16_t>(number + (taken ? 1 : 0));
    return OkStatus();
  }
  world.port = kDefaultPort;
  if (const char* job = env("SLURM_JOB_ID"); world.launcher == "Slurm" && job) {
    // Jobs that share a host must not meet.
    uint32_t id = 0;
    for (const char* c = job; *c != '\0'; ++c) id = id * 31 + *c;
    if (const char* step = env("SLURM_STEP_ID")) id = id * 31 + *step;
    world.port = static_cast<uint16_t>(20000 + id % 10000);
  }
  return OkStatus();
}

}  // namespace

Result<std::optional<World>> ReadWorld(const Environment& env) {
  std::optional<World> world;
  for (const Names& names : kLaunchers) {
    PP_ASSIGN_OR_RETURN(std::optional<World> found, ReadSet(names, env));
    if (!found) continue;
    if (!world) {
      world = std::move(found);
    } else if (world->note.empty() &&
               (world->rank != found->rank || world->ranks != found->ranks)) {
      world->note = fmt::format(
          "{} says rank {} of {}, {} says rank {} of {}: {} counts",
          world->launcher, world->rank.value, world->ranks, found->launcher,
          found->rank.value, found->ranks, world->launcher);
    }
  }
  if (!world) return std::nullopt;
  PP_RETURN_IF_ERROR(SetHost(*world, env));
  PP_RETURN_IF_ERROR(SetPort(*world, env));
  return world;
}

}  // namespace pp::launch
