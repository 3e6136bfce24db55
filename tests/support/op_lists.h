// Well-known schedules as operation lists, by plain loops: what tests compare
// with, independent of the language.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"

namespace pp::testing {

// `chunks[r][c]` is the stage that rank r holds as chunk c; empty programs.
ir::Schedule Frame(const std::vector<std::vector<uint32_t>>& chunks,
                   uint32_t micro_batches);
ir::Schedule LinearFrame(uint32_t ranks, uint32_t micro_batches);
// Stage s on rank s % ranks as chunk s / ranks.
ir::Schedule LoopFrame(uint32_t ranks, uint32_t micro_batches, uint32_t v);

// Adds an operation; its site is one of its own, numbered as it comes.
void Add(ir::Schedule& schedule, uint32_t rank, ir::OpKind kind, uint32_t mb,
         uint32_t chunk = 0);

ir::Schedule GPipe(uint32_t ranks, uint32_t micro_batches);
// `eager` doubles the warm-up.
ir::Schedule OneFOneB(uint32_t ranks, uint32_t micro_batches,
                      bool eager = false);
ir::Schedule Interleaved(uint32_t ranks, uint32_t micro_batches, uint32_t v);
ir::Schedule ZbH1(uint32_t ranks, uint32_t micro_batches);  // M >= P

ir::Schedule ZbH2(uint32_t ranks, uint32_t micro_batches);  // M >= 2P-1
ir::Schedule InterleavedZb(uint32_t ranks, uint32_t micro_batches, uint32_t v);
// PyTorch's loops; M >= 2P-1.
ir::Schedule ZbV(uint32_t ranks, uint32_t micro_batches);
// Building block, repeated every 6 slots, idle slots filled and squeezed, step
// by step over whole lists.
ir::Schedule VHalf(uint32_t ranks, uint32_t micro_batches);
ir::Schedule VMin(uint32_t ranks, uint32_t micro_batches);
// DeepSeek's loops; M >= 2P.
ir::Schedule DualPipeV(uint32_t ranks, uint32_t micro_batches);
// `w` times down and up.
ir::Schedule Hanayo(uint32_t ranks, uint32_t micro_batches, uint32_t w);
ir::Schedule BreadthFirst(uint32_t ranks, uint32_t micro_batches, uint32_t v);
// Groups of `n` micro-batches, the last one shorter.
ir::Schedule InterleavedGroups(uint32_t ranks, uint32_t micro_batches,
                               uint32_t v, uint32_t n);

}  // namespace pp::testing
