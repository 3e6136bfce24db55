// Which SEND belongs to which RECV. There are no tags: the n-th SEND from a to
// b on a lane belongs to the n-th RECV at b from a on that lane, whatever the
// two say that they carry. Linear.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "runtime/bytecode/module.h"

namespace pp::analysis {

struct InstrRef {
  Rank rank;
  Pc pc;
  friend auto operator<=>(const InstrRef&, const InstrRef&) = default;
};

inline const bytecode::Instr& At(const bytecode::Module& module, InstrRef ref) {
  return module.programs[ref.rank.value].code[ref.pc.value];
}

// What a communication says that it carries, and what a slot holds.
struct Tensor {
  bytecode::Payload payload{};
  StageId stage;
  MicroBatch mb;
  friend auto operator<=>(const Tensor&, const Tensor&) = default;
};
// Of a SEND or RECV.
Tensor TensorOf(const bytecode::Instr& instr);

struct Transfer {
  InstrRef send;
  InstrRef receive;
};

// All communication from one rank to another on one lane, in issue order.
struct Channel {
  Rank from;
  Rank to;
  LaneId lane;
  std::vector<Pc> sends;     // on `from`
  std::vector<Pc> receives;  // on `to`
};

struct CommMatch {
  std::vector<Channel> channels;  // in the order of ranks and first use
  bool complete = true;           // no channel has an end without partner
};

CommMatch MatchCommunication(const bytecode::Module& module);

}  // namespace pp::analysis
