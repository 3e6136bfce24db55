// `pprun --nproc N`: starts N processes of this program on this machine, one a
// rank, and sees them all to their end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pp::launch {

// What a process that Spawn started finds in its environment.
struct Spawned {
  std::string token;                 // known to the processes of this run alone
  std::optional<int> listen_socket;  // rank 0: inherited, so no port is guessed
};
std::optional<Spawned> ReadSpawned();

// Starts the processes with the arguments of this one and waits. When one
// fails the others get some seconds to end by themselves, then are killed; no
// process is left, also when this one is killed. Signals are passed on. Says
// on standard error which rank was killed by whom. The exit status of the run.
int Spawn(uint32_t ranks, char** argv);

}  // namespace pp::launch
