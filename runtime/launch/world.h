// Which rank of how many this process is, as its launcher says.
//
// torchrun, Open MPI, MPICH and Slurm export variables of different names:
//
//   launcher   rank                  size                  on this host
//   torchrun   RANK                  WORLD_SIZE            LOCAL_RANK
//   Open MPI   OMPI_COMM_WORLD_RANK  OMPI_COMM_WORLD_SIZE  ..._LOCAL_RANK
//   MPICH      PMI_RANK              PMI_SIZE              MPI_LOCALRANKID
//   Slurm      SLURM_PROCID          SLURM_STEP_NUM_TASKS  SLURM_LOCALID
//
// The first set that is there counts. Rank 0 is met at MASTER_ADDR and
// MASTER_PORT, which only torchrun sets; without them on this host, or on the
// first host of Slurm's step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace pp::launch {

struct World {
  Rank rank;
  uint32_t ranks = 1;
  uint32_t local_rank = 0;
  std::string host;  // where rank 0 listens
  uint16_t port = 0;
  std::string launcher;  // "torchrun", "Open MPI", "MPICH", "Slurm"
  std::string note;      // another set of variables says otherwise; or empty
};

// Like getenv: null where there is no such variable.
using Environment = std::function<const char*(const char*)>;

// nullopt: no launcher. kUsage naming the variable: one of a set is missing
// or no number, a rank is not below its size, or nobody says where rank 0 is.
Result<std::optional<World>> ReadWorld(const Environment& env);

}  // namespace pp::launch
