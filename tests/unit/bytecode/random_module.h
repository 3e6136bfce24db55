// Random modules that Verify accepts, for property tests and fuzzing seeds.
#pragma once

#include <cstdint>

#include "runtime/bytecode/module.h"

namespace pp::bytecode {

// The same seed gives the same module. Programs are safe, not sensible: they
// follow the states of slots and stashes, and nothing matches across ranks.
Module RandomModule(uint64_t seed);

}  // namespace pp::bytecode
