// A machine that follows the rules of a tier to the letter, one small
// step after another, and says what came of it. It is the judge over the
// checks and over lowering, so it shares no code with compiler/analysis or
// compiler/check, does everything the slow and obvious way, and is not for
// large programs.
//
// The rules (Rules says which of them are weaker):
//  - A host thread per rank issues its instructions in order. Compute blocks
//    it; WAIT blocks it until the request on the slot has completed; SEND and
//    RECV do not block it.
//  - SEND and RECV enter the one communication queue of their rank, a group
//    as one entry. An entry starts only at the head of its queue.
//  - Rendezvous: a transfer needs both its ends. The n-th SEND from a to b on
//    a lane belongs to the n-th RECV at b from a on that lane; nothing else is
//    compared.
//  - All or nothing: an entry starts only if the partner of each of its
//    transfers is at the head of its queue and can start, too.
//  - REDUCE enters the queue, starts when all members of its group have it at
//    the head of theirs, and blocks the host.
//  - What a slot holds is what really came into it. A fault is noted and the
//    run goes on, so that a program may be both wrong and stuck.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/bytecode/module.h"

namespace pp::testing {

struct Stop {
  Rank rank;
  Pc pc;
  std::string text;  // "rank 1, pc 7 (`wait %3`): waits for ..."
};

struct Outcome {
  std::vector<Stop> stuck;         // ranks that never came to their end
  std::vector<std::string> wrong;  // tensors and gradients that are not right

  bool finished() const { return stuck.empty(); }
  bool ok() const { return stuck.empty() && wrong.empty(); }
  std::string Text() const;  // one line for each
};

struct Rules {
  // SEND and RECV queue up by lane, a group in all its lanes, a REDUCE in a
  // queue of its group's. Else everything is in one queue.
  bool queue_per_lane = false;
  // A SEND starts and completes at the head of its queue without its RECV; a
  // group's sends go out when it is at the head, and it completes when all it
  // receives has come. Needs one queue.
  bool eager = false;
  // A SEND or RECV that is the first on its (source, destination, lane) blocks
  // its host until the other end's host has come to its first one; in a group,
  // at its end and for all of them at once.
  bool first_connection = false;
};

// `module` passed bytecode::Verify.
Outcome Emulate(const bytecode::Module& module, const Rules& rules = {});

}  // namespace pp::testing
