#include "compiler/analysis/comm_match.h"

#include <array>

#include "llvm/ADT/DenseMap.h"

namespace pp::analysis {

namespace op = bytecode::op;
using bytecode::Opcode;

Tensor TensorOf(const bytecode::Instr& instr) {
  // SEND and RECV have the same operands.
  const auto i = op::Send::Of(instr);
  return {i.payload, i.stage, i.mb};
}

namespace {

class Matcher {
 public:
  explicit Matcher(const bytecode::Module& module) : module_(module) {}

  CommMatch Run() {
    for (uint32_t r = 0; r < module_.ranks(); ++r) LookAt(Rank(r));
    for (const Channel& channel : match_.channels) {
      if (channel.sends.size() != channel.receives.size()) {
        match_.complete = false;
      }
    }
    return std::move(match_);
  }

 private:
  void LookAt(Rank rank) {
    const auto& code = module_.programs[rank.value].code;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].op == Opcode::kSend) {
        const auto i = op::Send::Of(code[pc]);
        ChannelOf(rank, i.peer, i.lane).sends.push_back(Pc(pc));
      } else if (code[pc].op == Opcode::kRecv) {
        const auto i = op::Recv::Of(code[pc]);
        ChannelOf(i.peer, rank, i.lane).receives.push_back(Pc(pc));
      }
    }
  }

  // A rank talks to few others: the channels looked up last, by lane and
  // direction, are nearly always those looked up next.
  Channel& ChannelOf(Rank from, Rank to, LaneId lane) {
    const uint64_t key =
        uint64_t{from.value} << 40 | uint64_t{to.value} << 16 | lane.value;
    Recent& recent =
        recent_[(lane.value * 8 + to.value * 2 + from.value) % recent_.size()];
    if (recent.key != key) recent = {key, Find(key, from, to, lane)};
    return match_.channels[recent.number];
  }

  uint32_t Find(uint64_t key, Rank from, Rank to, LaneId lane) {
    const auto [found, fresh] =
        index_.try_emplace(key, static_cast<uint32_t>(match_.channels.size()));
    if (fresh) match_.channels.push_back({from, to, lane, {}, {}});
    return found->second;
  }

  struct Recent {
    uint64_t key = ~uint64_t{0};  // no channel's
    uint32_t number = 0;
  };

  const bytecode::Module& module_;
  // Neighbours on four lanes have a place each.
  std::array<Recent, 32> recent_;
  CommMatch match_;
  llvm::DenseMap<uint64_t, uint32_t> index_;
};

}  // namespace

CommMatch MatchCommunication(const bytecode::Module& module) {
  return Matcher(module).Run();
}

}  // namespace pp::analysis
