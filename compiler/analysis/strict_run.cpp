#include "compiler/analysis/strict_run.h"

#include <numeric>

#include "llvm/ADT/DenseMap.h"

namespace pp::analysis {
namespace {

using bytecode::Module;
using bytecode::Opcode;
namespace op = bytecode::op;

constexpr uint32_t kNone = 0xFFFFFFFF;

bool IsTransfer(Opcode op) {
  return op == Opcode::kSend || op == Opcode::kRecv;
}

// What stands in the queues: transfers, groups and REDUCEs, numbered rank by
// rank in issue order. Those that only start together form one set.
class Entries {
 public:
  explicit Entries(const Module& module) : at_(module.ranks()) {
    for (uint32_t r = 0; r < module.ranks(); ++r) Number(module, r);
    first_.push_back(count());
    set_.resize(count());
    std::iota(set_.begin(), set_.end(), 0);
    next_ = set_;
  }

  // After all of Join: each entry's set, and how many are in it.
  void Close() {
    size_.assign(count(), 0);
    for (uint32_t e = 0; e < count(); ++e) {
      set_[e] = Root(e);
      ++size_[set_[e]];
    }
  }

  void Join(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    if (a == b) return;
    set_[std::max(a, b)] = std::min(a, b);
    std::swap(next_[a], next_[b]);  // two rings become one
  }

  uint32_t count() const { return static_cast<uint32_t>(rank_.size()); }
  // Of a SEND, RECV, GROUP_END or REDUCE; of a WAIT the one it waits for.
  uint32_t At(uint32_t rank, uint32_t pc) const { return at_[rank][pc]; }
  uint32_t First(uint32_t rank) const { return first_[rank]; }
  uint32_t RankOf(uint32_t entry) const { return rank_[entry]; }
  uint32_t SetOf(uint32_t entry) const { return set_[entry]; }
  uint32_t SizeOf(uint32_t set) const { return size_[set]; }
  uint32_t Next(uint32_t entry) const { return next_[entry]; }  // of its set

 private:
  void Number(const Module& module, uint32_t rank) {
    const auto& program = module.programs[rank];
    first_.push_back(count());
    at_[rank].assign(program.code.size(), kNone);
    std::vector<uint32_t> under_way(program.slots, kNone);  // by slot
    bool grouped = false, empty = true;
    for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
      const bytecode::Instr& instr = program.code[pc];
      uint32_t& at = at_[rank][pc];
      if (IsTransfer(instr.op)) {
        if (!grouped || empty) New(rank);
        empty = false;
        at = count() - 1;
        under_way[op::Send::Of(instr).slot.value] = at;
      } else if (instr.op == Opcode::kWait) {
        std::swap(at, under_way[op::Wait::Of(instr).slot.value]);
      } else if (instr.op == Opcode::kReduce) {
        New(rank);
        at = count() - 1;
      } else if (instr.op == Opcode::kGroupBegin) {
        grouped = empty = true;
      } else if (instr.op == Opcode::kGroupEnd) {
        grouped = false;
        if (!empty) at = count() - 1;
      }
    }
  }
  void New(uint32_t rank) { rank_.push_back(static_cast<uint16_t>(rank)); }

  uint32_t Root(uint32_t e) {
    while (set_[e] != e) e = set_[e] = set_[set_[e]];
    return e;
  }

  std::vector<std::vector<uint32_t>> at_;  // by rank and pc
  std::vector<uint32_t> first_;            // by rank
  std::vector<uint16_t> rank_;
  std::vector<uint32_t> set_, next_, size_;
};

void JoinPartners(const Module& module, const CommMatch& match,
                  Entries& entries) {
  for (const Channel& channel : match.channels) {
    for (size_t i = 0; i < channel.sends.size(); ++i) {
      entries.Join(entries.At(channel.from.value, channel.sends[i].value),
                   entries.At(channel.to.value, channel.receives[i].value));
    }
  }
  if (module.groups.empty()) return;
  // The n-th REDUCE of a group is one for all its ranks.
  std::vector<std::vector<uint32_t>> met(module.groups.size());
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    std::vector<uint32_t> so_far(module.groups.size());
    const auto& code = module.programs[r].code;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].op != Opcode::kReduce) continue;
      const uint32_t group = op::Reduce::Of(code[pc]).group.value;
      const uint32_t n = so_far[group]++;
      if (n == met[group].size()) met[group].push_back(entries.At(r, pc));
      entries.Join(met[group][n], entries.At(r, pc));
    }
  }
}

class StrictRun {
 public:
  StrictRun(const Module& module, const Entries& entries)
      : module_(module),
        entries_(entries),
        ranks_(module.ranks()),
        arrived_(entries.count()) {}

  bool Run() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) awake_.push_back(r);
    while (!awake_.empty()) {
      const uint32_t rank = awake_.back();
      awake_.pop_back();
      Arrive(rank);
      Advance(rank);
    }
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].pc < module_.programs[r].code.size()) return false;
      if (ranks_[r].done < ranks_[r].issued) return false;
    }
    return true;
  }

 private:
  struct RankState {
    uint32_t pc = 0;
    uint32_t issued = 0;   // entries
    uint32_t done = 0;     // entries; the next one is the head of the queue
    bool waiting = false;  // the head has been counted as arrived
    bool grouped = false;
  };

  // The head of the rank's queue, once issued, is ready to start; it does so
  // when all of its set are.
  void Arrive(uint32_t rank) {
    RankState& state = ranks_[rank];
    if (state.waiting || state.done == state.issued) return;
    state.waiting = true;
    const uint32_t head = entries_.First(rank) + state.done;
    const uint32_t set = entries_.SetOf(head);
    if (++arrived_[set] < entries_.SizeOf(set)) return;
    uint32_t entry = head;
    do {
      const uint32_t member = entries_.RankOf(entry);
      ++ranks_[member].done;
      ranks_[member].waiting = false;
      awake_.push_back(member);
      entry = entries_.Next(entry);
    } while (entry != head);
  }

  // The host goes on until it has to wait.
  void Advance(uint32_t rank) {
    RankState& state = ranks_[rank];
    const auto& code = module_.programs[rank].code;
    for (; state.pc < code.size(); ++state.pc) {
      const uint32_t entry = entries_.At(rank, state.pc);
      switch (code[state.pc].op) {
        case Opcode::kGroupBegin:
          state.grouped = true;
          break;
        case Opcode::kGroupEnd:
          state.grouped = false;
          if (entry != kNone) Issue(rank);
          break;
        case Opcode::kSend:
        case Opcode::kRecv:
          if (!state.grouped) Issue(rank);
          break;
        case Opcode::kReduce:
          if (entries_.First(rank) + state.issued == entry) Issue(rank);
          if (!IsDone(rank, entry)) return;
          break;
        case Opcode::kWait:
          if (entry != kNone && !IsDone(rank, entry)) return;
          break;
        case Opcode::kForward:
        case Opcode::kBackward:
        case Opcode::kBackwardInput:
        case Opcode::kBackwardWeight:
        case Opcode::kFree:
        case Opcode::kScale:
        case Opcode::kUpdate:
          break;
      }
    }
  }

  void Issue(uint32_t rank) {
    ++ranks_[rank].issued;
    Arrive(rank);
  }
  bool IsDone(uint32_t rank, uint32_t entry) const {
    return entry < entries_.First(rank) + ranks_[rank].done;
  }

  const Module& module_;
  const Entries& entries_;
  std::vector<RankState> ranks_;
  std::vector<uint32_t> arrived_;  // by set
  std::vector<uint32_t> awake_;    // ranks for which something has changed
};

}  // namespace

bool RunsStrict(const Module& module, const CommMatch& match) {
  Entries entries(module);
  JoinPartners(module, match, entries);
  entries.Close();
  return StrictRun(module, entries).Run();
}

}  // namespace pp::analysis
