// What a rank's peak of live bytes should be, before the first step.
//
// Two parts. Sizes: each chunk runs one forward, a full backward, and the two
// halves, alone, once for each size of micro-batch; the ledger says what every
// operation needs at most, what it leaves alive (the stash), and what goes
// when its input or output slot is freed. Order: the rank's instructions are
// walked with these sizes on top of weights, gradients, optimizer state and
// the batch. A slot counts from RECV, or from the operation that fills it, to
// FREE; so a transport that hands memory over without a copy may stay below.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/engine/torch/chunk_runner.h"
#include "runtime/engine/torch/ledger.h"
#include "runtime/engine/torch/setup.h"

namespace pp::engine::torch_engine {

// Bytes of one operation, relative to before it.
struct OpBytes {
  int64_t peak = 0;         // most at once while it runs
  int64_t after = 0;        // when it has run, with its output
  int64_t in_release = 0;   // goes when the input slot is freed
  int64_t out_release = 0;  // goes when the output slot is freed
};

struct ChunkBytes {
  OpBytes forward, backward, backward_input, backward_weight;
};

// Sizes of a chunk for micro-batches of `rows` rows. Runs it for real: the
// weight gradients are rubbish afterwards. Call in a LedgerScope of `ledger`.
ChunkBytes MeasureChunk(const Setup& setup, const ChunkRunner& chunk,
                        uint32_t rows, Ledger& ledger);

// The walk. `sizes[c][mb]` is chunk c's, `fixed` what is alive all the time.
uint64_t PredictPeak(const Setup& setup, const bytecode::RankProgram& program,
                     const std::vector<std::vector<ChunkBytes>>& sizes,
                     int64_t fixed);

}  // namespace pp::engine::torch_engine
