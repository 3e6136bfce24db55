// Programs to try judges on: orders, sends and receives placed at random, and
// modules changed at random. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "runtime/bytecode/module.h"

namespace pp::testing {

using Random = std::mt19937;

// One of the well-known schedules or a random order that runs, with random P,
// M and placement; small.
ir::Schedule RandomSchedule(Random& random);

// With hand-written communication: each send and receive within `slack` places
// of where it is needed, some waits early, some neighbours grouped.
bytecode::Module RandomModule(const ir::Schedule& schedule, uint32_t slack,
                              Random& random);

// Ways to break a program. The result may be refused by Verify, or be right.
enum class Mutation : uint8_t {
  kSwapNeighbours,
  kSwap,
  kMove,
  kDrop,
  kDuplicate,
  kOperand,  // any, of any instruction
  kWrongPeer,
  kWrongMicroBatch,
  kRegroup,
  kDropSend,    // with its WAIT and FREE
  kAddSend,     // a second time
  kAddReceive,  // that nobody serves
  kFewerSlots,  // a RECV waits until another slot is free, and takes that
};
inline constexpr size_t kMutations = 13;
const char* Name(Mutation mutation);

void Mutate(bytecode::Module& module, Mutation mutation, Random& random);
void Mutate(ir::Schedule& schedule, Random& random);

// The compute operations of a module with one replica.
ir::Schedule ComputeOf(const bytecode::Module& module);

}  // namespace pp::testing
