#include "tests/unit/lower/strict_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "runtime/bytecode/text.h"

namespace pp::testing {
namespace {

using bytecode::Instr;
using bytecode::Opcode;
using bytecode::Payload;
using ir::Ticks;

struct Key {
  Payload payload{};
  uint32_t stage = 0;
  uint32_t mb = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct Part {  // one SEND or RECV
  bool send;
  uint32_t peer;
  uint32_t lane;
  uint32_t slot;
  Key key;
};

struct Entry {  // of a rank's serial queue
  std::vector<Part> parts;
  Ticks issued = 0;
};

struct Slot {
  Key holds;
  bool full = false;
  std::optional<Ticks> done;     // of the transfer last issued on it
  std::optional<uint32_t> from;  // channel it was received from
};

struct RankState {
  size_t pc = 0;
  Ticks time = 0;
  Ticks queue_free = 0;
  bool in_group = false;
  bool reducing = false;
  Entry group;
  std::deque<Entry> queue;
  std::vector<Slot> slots;
  std::map<std::pair<uint32_t, Payload>, uint32_t> receiving;
};

class Machine {
 public:
  Machine(const bytecode::Module& module, const ir::CostModel& costs)
      : module_(module), costs_(costs), ranks_(module.ranks()) {
    for (uint32_t r = 0; r < module.ranks(); ++r) {
      ranks_[r].slots.resize(module.programs[r].slots);
    }
  }

  Replay Run() {
    bool moved = true;
    while (moved && result_.fault.empty()) {
      moved = false;
      for (uint32_t r = 0; r < ranks_.size(); ++r) {
        while (Step(r)) moved = true;
        while (StartHead(r)) moved = true;
      }
    }
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].pc < Code(r).size()) Fault(r, "stuck");
      if (!ranks_[r].queue.empty()) Fault(r, "transfer left in the queue");
      result_.makespan = std::max(result_.makespan, ranks_[r].time);
    }
    return result_;
  }

 private:
  const std::vector<Instr>& Code(uint32_t r) const {
    return module_.programs[r].code;
  }
  void Fault(uint32_t r, const std::string& why) {
    if (!result_.fault.empty()) return;
    const size_t pc = ranks_[r].pc;
    result_.fault = fmt::format(
        "rank {} pc {} `{}`: {}", r, pc,
        pc < Code(r).size() ? bytecode::PrintInstr(Code(r)[pc]) : "end", why);
  }

  // False: the host is blocked, at its end, or at fault.
  bool Step(uint32_t r) {
    RankState& rank = ranks_[r];
    if (!result_.fault.empty() || rank.pc == Code(r).size()) return false;
    const Instr& in = Code(r)[rank.pc];
    switch (in.op) {
      case Opcode::kForward:
        Compute(r, in, ir::OpKind::kF);
        break;
      case Opcode::kBackward:
        Compute(r, in, ir::OpKind::kB);
        break;
      case Opcode::kBackwardInput:
        Compute(r, in, ir::OpKind::kI);
        break;
      case Opcode::kBackwardWeight:
        rank.time += costs_.Of(ir::OpKind::kW);
        break;
      case Opcode::kSend:
      case Opcode::kRecv:
        Issue(r, in);
        break;
      case Opcode::kWait:
        if (!Wait(r, in)) return false;
        break;
      case Opcode::kFree:
        Free(r, in);
        break;
      case Opcode::kGroupBegin:
        rank.in_group = true;
        break;
      case Opcode::kGroupEnd:
        rank.in_group = false;
        if (rank.group.parts.size() != 2 ||
            rank.group.parts[0].send == rank.group.parts[1].send) {
          Fault(r, "the group is not an exchange");
          return false;
        }
        Enqueue(r, std::move(rank.group));
        rank.group = {};
        ++result_.groups;
        break;
      case Opcode::kReduce:
        if (!Reduce(r, in)) return false;
        break;
      case Opcode::kScale:
      case Opcode::kUpdate:
        break;
    }
    ++rank.pc;
    return true;
  }

  void Compute(uint32_t r, const Instr& in, ir::OpKind kind) {
    const auto work = bytecode::op::Forward::Of(in);
    const uint32_t stage =
        module_.programs[r].chunks[work.chunk.value].stage.value;
    const bool forward = kind == ir::OpKind::kF;
    const Payload payload = forward ? Payload::kAct : Payload::kGrad;
    if (work.in != bytecode::kNoSlot) {
      const Slot& slot = ranks_[r].slots[work.in.value];
      const Key wanted{payload, forward ? stage - 1 : stage + 1, work.mb.value};
      if (!slot.full || slot.holds != wanted) Fault(r, "wrong input");
    }
    if (work.out != bytecode::kNoSlot) {
      ranks_[r].slots[work.out.value] = {
          {payload, stage, work.mb.value}, true, {}, {}};
    }
    ranks_[r].time += costs_.Of(kind);
  }

  void Issue(uint32_t r, const Instr& in) {
    const auto comm = bytecode::op::Send::Of(in);
    const bool send = in.op == Opcode::kSend;
    const Part part{send,
                    comm.peer.value,
                    comm.lane.value,
                    comm.slot.value,
                    {comm.payload, comm.stage.value, comm.mb.value}};
    Slot& slot = ranks_[r].slots[comm.slot.value];
    slot.done.reset();
    if (send && (!slot.full || slot.holds != part.key)) {
      Fault(r, "sends another tensor");
    }
    if (!send) {
      uint32_t& count = ranks_[r].receiving[{comm.peer.value, comm.payload}];
      result_.receive_slots = std::max(result_.receive_slots, ++count);
      slot.holds = part.key;
      slot.from = comm.peer.value;
    }
    if (ranks_[r].in_group) {
      ranks_[r].group.parts.push_back(part);
    } else {
      Enqueue(r, {{part}, 0});
    }
  }

  void Enqueue(uint32_t r, Entry entry) {
    entry.issued = ranks_[r].time;
    ranks_[r].queue.push_back(std::move(entry));
  }

  bool Wait(uint32_t r, const Instr& in) {
    Slot& slot = ranks_[r].slots[bytecode::op::Wait::Of(in).slot.value];
    if (!slot.done) return false;
    ranks_[r].time = std::max(ranks_[r].time, *slot.done);
    return true;
  }

  void Free(uint32_t r, const Instr& in) {
    Slot& slot = ranks_[r].slots[bytecode::op::Free::Of(in).slot.value];
    if (slot.from) --ranks_[r].receiving[{*slot.from, slot.holds.payload}];
    slot = {};
  }

  // All members at their REDUCE: all go on at the time of the last.
  bool Reduce(uint32_t r, const Instr& in) {
    RankState& rank = ranks_[r];
    if (std::exchange(rank.reducing, false)) return true;
    const auto& group =
        module_.groups[bytecode::op::Reduce::Of(in).group.value];
    Ticks last = 0;
    for (Rank member : group.ranks) {
      const RankState& other = ranks_[member.value];
      if (other.pc == Code(member.value).size() ||
          Code(member.value)[other.pc] != in) {
        return false;
      }
      last = std::max(last, other.time);
    }
    for (Rank member : group.ranks) {
      ranks_[member.value].time = last;
      ranks_[member.value].reducing = member.value != r;
    }
    return true;
  }

  // Starts the entry at the head of r's queue if its partner is at its head.
  bool StartHead(uint32_t r) {
    if (ranks_[r].queue.empty() || !result_.fault.empty()) return false;
    const Entry mine = ranks_[r].queue.front();
    const uint32_t peer = mine.parts[0].peer;
    if (ranks_[peer].queue.empty()) return false;
    const Entry theirs = ranks_[peer].queue.front();
    if (theirs.parts[0].peer != r) return false;
    if (theirs.parts.size() != mine.parts.size()) {
      Fault(r, "a group meets a part of it");
      return false;
    }
    const Ticks start =
        std::max({mine.issued, theirs.issued, ranks_[r].queue_free,
                  ranks_[peer].queue_free});
    for (size_t i = 0; i < mine.parts.size(); ++i) {
      const Part& a = mine.parts[i];
      const Part& b = theirs.parts[i];
      if (a.peer != peer || b.peer != r || a.send == b.send ||
          a.lane != b.lane || a.key != b.key) {
        Fault(r, "the two ends differ");
        return false;
      }
      Finish(ranks_[r].slots[a.slot], start, a);
      Finish(ranks_[peer].slots[b.slot], start, b);
    }
    for (uint32_t end : {r, peer}) {
      ranks_[end].queue.pop_front();
      ranks_[end].queue_free = start + costs_.comm;
    }
    return true;
  }

  void Finish(Slot& slot, Ticks start, const Part& part) {
    slot.done = start + costs_.comm;
    if (!part.send) slot.full = true;
  }

  const bytecode::Module& module_;
  const ir::CostModel& costs_;
  std::vector<RankState> ranks_;
  Replay result_;
};

}  // namespace

Replay RunStrict(const bytecode::Module& module, const ir::CostModel& costs) {
  return Machine(module, costs).Run();
}

}  // namespace pp::testing
