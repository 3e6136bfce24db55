// The loader's verifier.
//
// Promise: a module that passes cannot crash the VM, read or write out of
// range, or use a slot or stash in a state that has no meaning. It may still
// deadlock or compute the wrong thing: that is the business of `ppc verify`.
//
// Since programs are straight-line, one linear walk per rank settles it:
//   - every operand is within its bound; kNoSlot only where `in` or `out`
//     stand for data or loss, exactly on the first and last stage
//   - slot: empty -RECV-> receiving -WAIT-> full; empty -compute out-> full;
//     full -SEND-> sending -WAIT-> full; full -FREE-> empty. Compute reads
//     full (or sending) slots. All slots are empty at the end
//   - stash: empty -FORWARD-> held(chunk, mb) -BACKWARD-> empty, or
//     held -BACKWARD_INPUT-> half -BACKWARD_WEIGHT-> empty. Empty at the end
//   - GROUP_BEGIN / GROUP_END alternate, only SEND and RECV between them
//   - SEND and RECV name another rank than their own; a REDUCE's group
//     contains the rank; debug entries name a site or kNoSite
// and before that, of the module:
//   - counts are at least 1 (ranks, stages, micro-batches, replicas) and small
//     enough for the operand that indexes them; a rank declares no more slots
//     and stashes than its instructions can fill, so that a small file cannot
//     ask for much memory
//   - chunks name a stage and replica that there are; groups list different
//     ranks, each holding the stage (tied: the first or the last one)
//   - strings are UTF-8, numbers finite, per-rank facts as many as ranks
#pragma once

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

// The first violation (kInput): of an instruction as "rank R, pc N (`text of
// the instruction`): cause", else as "rank R: cause" or "group g0: cause".
Status Verify(const Module& module);

}  // namespace pp::bytecode
