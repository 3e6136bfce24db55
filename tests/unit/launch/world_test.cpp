#include "runtime/launch/world.h"

#include <gtest/gtest.h>

#include <map>

namespace pp::launch {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<World>> Read(const Variables& variables) {
  return ReadWorld([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

World Known(const Variables& variables) {
  auto world = Read(variables);
  if (!world || !*world) {
    ADD_FAILURE() << (world ? "no world" : world.error().message());
    return {};
  }
  return **world;
}

std::string Fault(const Variables& variables) {
  auto world = Read(variables);
  if (world) return "";
  EXPECT_EQ(world.error().code(), StatusCode::kUsage);
  return world.error().message();
}

TEST(World, NoLauncherNoWorld) {
  auto world = Read({{"PATH", "/bin"}, {"MASTER_ADDR", "10.0.0.1"}});
  ASSERT_TRUE(world);
  EXPECT_FALSE(*world);
}

TEST(World, EveryLauncherSaysTheSame) {
  const Variables sets[] = {
      {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}},
      {{"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_SIZE", "2"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}},
      {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "1"}},
      {{"SLURM_PROCID", "1"},
       {"SLURM_STEP_NUM_TASKS", "2"},
       {"SLURM_NTASKS", "8"},
       {"SLURM_JOB_ID", "7"},
       {"SLURM_STEP_ID", "0"},
       {"SLURM_LOCALID", "1"}},
  };
  for (const Variables& variables : sets) {
    const World world = Known(variables);
    EXPECT_EQ(world.rank, Rank(1)) << world.launcher;
    EXPECT_EQ(world.ranks, 2u) << world.launcher;
    EXPECT_EQ(world.local_rank, 1u) << world.launcher;
    EXPECT_EQ(world.host, "127.0.0.1") << world.launcher;
    EXPECT_EQ(world.note, "") << world.launcher;
  }
}

TEST(World, HalfASetNamesTheOtherHalf) {
  EXPECT_EQ(Fault({{"RANK", "0"}}),
            "RANK is set but WORLD_SIZE is not: half of what torchrun says");
  EXPECT_EQ(Fault({{"WORLD_SIZE", "2"}}),
            "WORLD_SIZE is set but RANK is not: half of what torchrun says");
  EXPECT_EQ(Fault({{"PMI_SIZE", "2"}}),
            "PMI_SIZE is set but PMI_RANK is not: half of what MPICH says");
  EXPECT_EQ(Fault({{"SLURM_PROCID", "0"}}),
            "SLURM_PROCID is set but SLURM_STEP_NUM_TASKS is not: half of what "
            "Slurm says");
}

TEST(World, NumbersAreChecked) {
  EXPECT_EQ(Fault({{"RANK", "two"}, {"WORLD_SIZE", "2"}}),
            "RANK=`two` is no number from 0 to 65535");
  EXPECT_EQ(Fault({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}),
            "RANK=`-1` is no number from 0 to 65535");
  EXPECT_EQ(Fault({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
            "RANK=2 is not below WORLD_SIZE=2");
  EXPECT_EQ(Fault({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "x"}}),
            "MASTER_PORT=`x` is no number from 0 to 65534");
}

TEST(World, TheFirstOfTwoSetsCountsAndIsNamed) {
  const World world = Known({{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"SLURM_PROCID", "0"},
                             {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(world.rank, Rank(3));
  EXPECT_EQ(world.note,
            "torchrun says rank 3 of 4, Slurm says rank 0 of 1: torchrun "
            "counts");
}

TEST(World, ABatchScriptIsNoTask) {
  auto world = Read(
      {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}});
  ASSERT_TRUE(world);
  EXPECT_FALSE(*world);
}

TEST(World, RankZeroIsWhereTheLauncherSays) {
  EXPECT_EQ(Known({{"RANK", "0"},
                   {"WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "node7"},
                   {"MASTER_PORT", "4000"}})
                .host,
            "node7");
  // torchrun's own agent listens at MASTER_PORT.
  EXPECT_EQ(Known({{"RANK", "0"},
                   {"WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "node7"},
                   {"MASTER_PORT", "4000"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"}})
                .port,
            4001);
  Variables slurm = {{"SLURM_PROCID", "0"},
                     {"SLURM_STEP_NUM_TASKS", "2"},
                     {"SLURM_STEP_NUM_NODES", "2"},
                     {"SLURM_STEP_NODELIST", "gpu[03-07,9],login"}};
  EXPECT_EQ(Known(slurm).host, "gpu03");
  slurm["SLURM_STEP_NODELIST"] = "a1,b2";
  EXPECT_EQ(Known(slurm).host, "a1");
  EXPECT_EQ(Fault({{"OMPI_COMM_WORLD_RANK", "0"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            "Open MPI started ranks on several hosts: set MASTER_ADDR to that "
            "of rank 0");
}

}  // namespace
}  // namespace pp::launch
