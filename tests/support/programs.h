// Modules for tests of the runtime, built by hand: the runtime does not know
// the compiler. Stage s is on rank s; activations go over lane 0, gradients
// over lane 1; every message has a slot of its own.
#pragma once

#include <functional>
#include <vector>

#include "runtime/bytecode/module.h"

namespace pp::test {

struct Op {
  char kind;  // F, B, I, W
  uint32_t mb;
};

// The operations of one rank, in order.
using OrderFn = std::function<std::vector<Op>(uint32_t rank)>;

bytecode::Module BuildModule(uint32_t ranks, uint32_t micro_batches,
                             const OrderFn& order);

bytecode::Module GPipe(uint32_t ranks, uint32_t micro_batches);
bytecode::Module OneFOneB(uint32_t ranks, uint32_t micro_batches);
// GPipe whose backward is split: all F, all I, all W.
bytecode::Module SplitGPipe(uint32_t ranks, uint32_t micro_batches);

// GPipe whose rank 0 does not send its first activation: rank 1 waits for ever.
bytecode::Module LostMessage(uint32_t ranks, uint32_t micro_batches);

}  // namespace pp::test
