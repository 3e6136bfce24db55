#include "tests/support/emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "runtime/bytecode/text.h"

namespace pp::testing {
namespace {

using bytecode::Instr;
using bytecode::Module;
using bytecode::Opcode;
using bytecode::Payload;
namespace op = bytecode::op;

struct Tensor {
  Payload payload;
  uint32_t stage;
  uint32_t mb;
  friend bool operator==(const Tensor&, const Tensor&) = default;
  std::string Text() const {
    return fmt::format("{} s{} m{}", bytecode::PayloadName(payload), stage, mb);
  }
};

struct End {  // of a transfer
  bool send;
  uint32_t pc, peer, lane, slot;
  uint32_t number;  // the how-manieth on its (source, destination, lane)
  Tensor named;     // what the instruction says that it is
};

struct Entry {  // of a communication queue
  uint32_t rank;
  std::vector<End> ends;
  std::optional<uint32_t> reduce;  // group, for a REDUCE
  bool done = false;
  bool sent = false;  // eager: its sends are out
};
using EntryPtr = std::shared_ptr<Entry>;

struct ChunkState {
  uint32_t scales = 0;
  uint32_t updates = 0;
  std::map<uint32_t, int> reductions;  // by group
};

struct RankState {
  uint32_t pc = 0;
  std::map<uint32_t, Tensor> slots;
  std::map<uint32_t, EntryPtr> requests;           // by slot
  std::map<int64_t, std::deque<EntryPtr>> queues;  // by Queue()
  EntryPtr group;                                  // being issued
  EntryPtr reduce;                                 // being waited for
  std::vector<ChunkState> chunks;
};

class Machine {
  using Channel = std::tuple<uint32_t, uint32_t, uint32_t>;  // src, dst, lane

 public:
  Machine(const Module& module, const Rules& rules)
      : module_(module), rules_(rules) {
    for (const auto& program : module.programs) {
      ranks_.emplace_back().chunks.resize(program.chunks.size());
    }
  }

  Outcome Run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (uint32_t r = 0; r < ranks_.size(); ++r) {
        while (StepHost(r)) moved = true;
      }
      while (StepDevices()) moved = true;
    }
    NoteStuck();
    if (outcome_.stuck.empty()) JudgeEnd();
    return std::move(outcome_);
  }

 private:
  const bytecode::RankProgram& Program(uint32_t r) const {
    return module_.programs[r];
  }
  uint32_t StageOf(uint32_t r, uint32_t chunk) const {
    return Program(r).chunks[chunk].stage.value;
  }

  std::string Place(uint32_t r, uint32_t pc) const {
    return fmt::format("rank {}, pc {} (`{}`)", r, pc,
                       bytecode::PrintInstr(Program(r).code[pc]));
  }
  void Wrong(uint32_t r, uint32_t pc, const std::string& what) {
    outcome_.wrong.push_back(Place(r, pc) + ": " + what);
  }

  // ---- The host thread ----

  bool StepHost(uint32_t r) {
    RankState& rank = ranks_[r];
    if (rank.pc >= Program(r).code.size()) return false;
    const Instr& instr = Program(r).code[rank.pc];
    switch (instr.op) {
      case Opcode::kForward:
        Forward(r, op::Forward::Of(instr));
        break;
      case Opcode::kBackward: {
        const auto i = op::Backward::Of(instr);
        InputGradient(r, i.chunk.value, i.mb.value, i.in.value, i.out.value);
        WeightGradient(r, i.chunk.value, i.mb.value);
        break;
      }
      case Opcode::kBackwardInput: {
        const auto i = op::BackwardInput::Of(instr);
        InputGradient(r, i.chunk.value, i.mb.value, i.in.value, i.out.value);
        break;
      }
      case Opcode::kBackwardWeight: {
        const auto i = op::BackwardWeight::Of(instr);
        WeightGradient(r, i.chunk.value, i.mb.value);
        break;
      }
      case Opcode::kSend: {
        const auto i = op::Send::Of(instr);
        if (!Connected(r, {{r, i.peer.value, i.lane.value}})) return false;
        Issue(r, {true,
                  rank.pc,
                  i.peer.value,
                  i.lane.value,
                  i.slot.value,
                  sends_[{r, i.peer.value, i.lane.value}]++,
                  {i.payload, i.stage.value, i.mb.value}});
        break;
      }
      case Opcode::kRecv: {
        const auto i = op::Recv::Of(instr);
        if (!Connected(r, {{i.peer.value, r, i.lane.value}})) return false;
        Issue(r, {false,
                  rank.pc,
                  i.peer.value,
                  i.lane.value,
                  i.slot.value,
                  receives_[{i.peer.value, r, i.lane.value}]++,
                  {i.payload, i.stage.value, i.mb.value}});
        break;
      }
      case Opcode::kWait: {
        const uint32_t slot = op::Wait::Of(instr).slot.value;
        if (!rank.requests.at(slot)->done) return false;
        rank.requests.erase(slot);
        break;
      }
      case Opcode::kFree:
        rank.slots.erase(op::Free::Of(instr).slot.value);
        break;
      case Opcode::kGroupBegin:
        rank.group = std::make_shared<Entry>(Entry{r, {}, {}});
        break;
      case Opcode::kGroupEnd: {
        EntryPtr group = rank.group;
        rank.group = nullptr;  // Connected() asks only outside of groups
        if (!Connected(r, ChannelsOf(*group))) {
          rank.group = group;
          return false;
        }
        if (!group->ends.empty()) Enqueue(r, group);
        break;
      }
      case Opcode::kScale:
        Scale(r, op::Scale::Of(instr).chunk.value);
        break;
      case Opcode::kReduce:
        if (!Reduce(r, op::Reduce::Of(instr).group.value)) return false;
        break;
      case Opcode::kUpdate:
        Update(r, op::Update::Of(instr).chunk.value);
        break;
    }
    ++rank.pc;
    return true;
  }

  // Whether the host may go on: all these channels are connected. It offers
  // its side of those that are not.
  bool Connected(uint32_t r, const std::vector<Channel>& channels) {
    if (!rules_.first_connection || ranks_[r].group != nullptr) return true;
    bool all = true;
    for (const Channel& channel : channels) {
      std::set<uint32_t>& offered = offers_[channel];
      offered.insert(r);
      all &= offered.size() == 2;
    }
    return all;
  }

  static std::vector<Channel> ChannelsOf(const Entry& entry) {
    std::vector<Channel> channels;
    for (const End& end : entry.ends) {
      channels.push_back(end.send ? Channel{entry.rank, end.peer, end.lane}
                                  : Channel{end.peer, entry.rank, end.lane});
    }
    return channels;
  }

  // Which queues of its rank the entry stands in.
  std::set<int64_t> QueuesOf(const Entry& entry) const {
    if (!rules_.queue_per_lane) return {0};
    if (entry.reduce) return {-1 - static_cast<int64_t>(*entry.reduce)};
    std::set<int64_t> lanes;
    for (const End& end : entry.ends) lanes.insert(end.lane);
    return lanes;
  }

  void Enqueue(uint32_t r, const EntryPtr& entry) {
    for (int64_t q : QueuesOf(*entry)) ranks_[r].queues[q].push_back(entry);
  }

  void Dequeue(const Entry& entry) {
    for (int64_t q : QueuesOf(entry)) ranks_[entry.rank].queues[q].pop_front();
  }

  // At the head of all its queues.
  bool AtHead(const EntryPtr& entry) const {
    for (int64_t q : QueuesOf(*entry)) {
      if (ranks_[entry->rank].queues.at(q).front() != entry) return false;
    }
    return true;
  }

  std::vector<EntryPtr> HeadsOf(uint32_t r) const {
    std::vector<EntryPtr> heads;
    for (const auto& [q, queue] : ranks_[r].queues) {
      if (queue.empty() || !AtHead(queue.front())) continue;
      if (std::find(heads.begin(), heads.end(), queue.front()) == heads.end()) {
        heads.push_back(queue.front());
      }
    }
    return heads;
  }

  void Read(uint32_t r, uint32_t slot, const Tensor& wanted) {
    const auto found = ranks_[r].slots.find(slot);
    if (found == ranks_[r].slots.end()) {
      Wrong(r, ranks_[r].pc, "reads nothing, wants " + wanted.Text());
    } else if (found->second != wanted) {
      Wrong(r, ranks_[r].pc,
            "reads " + found->second.Text() + ", wants " + wanted.Text());
    }
  }

  void NotAfterUpdate(uint32_t r, uint32_t chunk) {
    if (ranks_[r].chunks[chunk].updates > 0) {
      Wrong(r, ranks_[r].pc, "sees weights that were updated already");
    }
  }

  void Forward(uint32_t r, const op::Forward& i) {
    const uint32_t stage = StageOf(r, i.chunk.value);
    NotAfterUpdate(r, i.chunk.value);
    if (i.in != bytecode::kNoSlot) {
      Read(r, i.in.value, {Payload::kAct, stage - 1, i.mb.value});
    }
    if (i.out != bytecode::kNoSlot) {
      ranks_[r].slots[i.out.value] = {Payload::kAct, stage, i.mb.value};
    }
    ++forwards_[{stage, i.mb.value}];
  }

  void InputGradient(uint32_t r, uint32_t chunk, uint32_t mb, uint32_t in,
                     uint32_t out) {
    const uint32_t stage = StageOf(r, chunk);
    NotAfterUpdate(r, chunk);
    if (in != bytecode::kNoSlot.value) {
      Read(r, in, {Payload::kGrad, stage + 1, mb});
    }
    if (out != bytecode::kNoSlot.value) {
      ranks_[r].slots[out] = {Payload::kGrad, stage, mb};
    }
  }

  void WeightGradient(uint32_t r, uint32_t chunk, uint32_t mb) {
    NotAfterUpdate(r, chunk);
    if (ranks_[r].chunks[chunk].scales > 0) {
      Wrong(r, ranks_[r].pc, "adds a gradient after the gradients were scaled");
    }
    ++gradients_[{StageOf(r, chunk), mb}];
  }

  // ---- The end of a step ----

  void Scale(uint32_t r, uint32_t chunk) {
    if (++ranks_[r].chunks[chunk].scales > 1) {
      Wrong(r, ranks_[r].pc, "scales gradients a second time");
    }
    if (ranks_[r].chunks[chunk].updates > 0) {
      Wrong(r, ranks_[r].pc, "scales gradients after their update");
    }
  }

  bool IsIn(uint32_t stage, const bytecode::Group& group) const {
    if (group.kind == bytecode::GroupKind::kReplicas) {
      return stage == group.stage.value;
    }
    return stage == 0 || stage == module_.stages - 1;
  }

  bool Reduce(uint32_t r, uint32_t group) {
    RankState& rank = ranks_[r];
    if (rank.reduce == nullptr) {
      rank.reduce = std::make_shared<Entry>(Entry{r, {}, group});
      Enqueue(r, rank.reduce);
    }
    if (!rank.reduce->done) return false;
    rank.reduce = nullptr;
    for (uint32_t c = 0; c < rank.chunks.size(); ++c) {
      if (!IsIn(StageOf(r, c), module_.groups[group])) continue;
      ChunkState& chunk = rank.chunks[c];
      if (++chunk.reductions[group] > 1) {
        Wrong(r, rank.pc, "sums gradients a second time");
      }
      if (chunk.scales == 0) Wrong(r, rank.pc, "sums gradients before scaling");
      if (chunk.updates > 0) Wrong(r, rank.pc, "sums gradients after update");
    }
    return true;
  }

  void Update(uint32_t r, uint32_t c) {
    ChunkState& chunk = ranks_[r].chunks[c];
    if (++chunk.updates > 1) Wrong(r, ranks_[r].pc, "updates a second time");
    if (chunk.scales == 0) Wrong(r, ranks_[r].pc, "updates before scaling");
  }

  // ---- Communication ----

  void Issue(uint32_t r, End end) {
    RankState& rank = ranks_[r];
    EntryPtr entry = rank.group;
    if (entry == nullptr) {
      entry = std::make_shared<Entry>(Entry{r, {}, {}});
      entry->ends.push_back(end);
      rank.requests[end.slot] = entry;
      return Enqueue(r, entry);
    }
    rank.requests[end.slot] = entry;
    entry->ends.push_back(end);
  }

  static const End* PartnerIn(const Entry& entry, uint32_t rank,
                              const End& end) {
    for (const End& other : entry.ends) {
      if (other.send != end.send && other.peer == rank &&
          other.lane == end.lane && other.number == end.number) {
        return &other;
      }
    }
    return nullptr;
  }

  // The entry among `heads` that holds the other end, or null.
  Entry* PartnerOf(const Entry& entry, const End& end,
                   const std::set<Entry*>& heads) const {
    for (Entry* head : heads) {
      if (head->rank == end.peer && PartnerIn(*head, entry.rank, end)) {
        return head;
      }
    }
    return nullptr;
  }

  bool CanStart(const Entry& entry, const std::set<Entry*>& heads) const {
    if (entry.reduce) return CanReduce(*entry.reduce, heads);
    if (rules_.eager) {
      return std::all_of(entry.ends.begin(), entry.ends.end(),
                         [&](const End& end) {
                           return end.send || Mail(entry.rank, end) != nullptr;
                         });
    }
    return std::all_of(entry.ends.begin(), entry.ends.end(),
                       [&](const End& end) {
                         return PartnerOf(entry, end, heads) != nullptr;
                       });
  }

  bool CanReduce(uint32_t group, const std::set<Entry*>& heads) const {
    const auto& members = module_.groups[group].ranks;
    return std::all_of(members.begin(), members.end(), [&](Rank member) {
      return std::any_of(heads.begin(), heads.end(), [&](const Entry* head) {
        return head->rank == member.value && head->reduce == group;
      });
    });
  }

  // Everything that can start, starts and completes. False: nothing can.
  bool StepDevices() {
    std::set<Entry*> heads;
    std::vector<EntryPtr> all;
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      for (const EntryPtr& head : HeadsOf(r)) all.push_back(head);
    }
    bool moved = rules_.eager && PostSends(all);
    for (const EntryPtr& head : all) heads.insert(head.get());
    // The largest set of heads of which each can start with the others.
    for (bool shrunk = true; shrunk;) {
      shrunk = std::erase_if(heads, [&](Entry* entry) {
                 return !CanStart(*entry, heads);
               }) > 0;
    }
    for (const EntryPtr& entry : all) {
      if (heads.contains(entry.get())) Complete(*entry, heads);
    }
    for (const EntryPtr& entry : all) {
      if (heads.contains(entry.get())) Dequeue(*entry);
    }
    return moved || !heads.empty();
  }

  void Complete(Entry& entry, const std::set<Entry*>& heads) {
    entry.done = true;
    for (const End& end : entry.ends) {
      if (rules_.eager) {
        if (!end.send) Take(entry.rank, end);
      } else if (end.send) {
        const Entry& partner = *PartnerOf(entry, end, heads);
        Deliver(Leaves(entry.rank, end), end, end.peer,
                *PartnerIn(partner, entry.rank, end));
      }
    }
  }

  // ---- Eager: messages on their way ----

  struct Letter {
    Tensor carried;
    End send;
  };
  using Address = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

  bool PostSends(const std::vector<EntryPtr>& heads) {
    bool posted = false;
    for (const EntryPtr& entry : heads) {
      if (entry->sent || entry->reduce) continue;
      entry->sent = true;
      for (const End& end : entry->ends) {
        if (!end.send) continue;
        posted = true;
        mail_.emplace(Address{entry->rank, end.peer, end.lane, end.number},
                      Letter{Leaves(entry->rank, end), end});
      }
    }
    return posted;
  }

  const Letter* Mail(uint32_t r, const End& receive) const {
    const auto found =
        mail_.find({receive.peer, r, receive.lane, receive.number});
    return found == mail_.end() ? nullptr : &found->second;
  }

  void Take(uint32_t r, const End& receive) {
    const Letter letter = *Mail(r, receive);
    mail_.erase({receive.peer, r, receive.lane, receive.number});
    Deliver(letter.carried, letter.send, r, receive);
  }

  // What the SEND reads from its slot.
  Tensor Leaves(uint32_t from, const End& send) {
    const Tensor& carried = ranks_[from].slots.at(send.slot);
    if (carried != send.named) {
      Wrong(from, send.pc, "sends " + carried.Text());
    }
    return carried;
  }

  void Deliver(const Tensor& carried, const End& send, uint32_t to,
               const End& receive) {
    if (send.named != receive.named) {
      Wrong(to, receive.pc, "is given what was sent as " + send.named.Text());
    }
    ranks_[to].slots[receive.slot] = carried;
  }

  // ---- What came of it ----

  void NoteStuck() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankState& rank = ranks_[r];
      if (rank.pc >= Program(r).code.size()) continue;
      std::string text = Place(r, rank.pc) + ": never completes";
      for (const auto& [q, queue] : rank.queues) {
        if (queue.empty() || queue.front()->ends.empty()) continue;
        text +=
            ", a queue stops at " + Place(r, queue.front()->ends.front().pc);
      }
      outcome_.stuck.push_back({Rank(r), Pc(rank.pc), text});
    }
  }

  void JudgeEnd() {
    for (const auto& [address, letter] : mail_) {
      outcome_.wrong.push_back("sent and never received: " +
                               letter.carried.Text());
    }
    std::map<std::pair<uint32_t, uint32_t>, int> held;  // (stage, replica)
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      for (uint32_t c = 0; c < ranks_[r].chunks.size(); ++c) {
        const auto& info = Program(r).chunks[c];
        ++held[{info.stage.value, info.replica}];
        JudgeChunk(r, c);
      }
    }
    for (uint32_t s = 0; s < module_.stages; ++s) {
      for (uint32_t i = 0; i < module_.replicas; ++i) {
        if (held[{s, i}] != 1) JudgeCount("held", held[{s, i}], s, i);
      }
      for (uint32_t m = 0; m < module_.micro_batches; ++m) {
        if (forwards_[{s, m}] != 1) {
          JudgeCount("forwarded", forwards_[{s, m}], s, m);
        }
        if (gradients_[{s, m}] != 1) {
          JudgeCount("in the gradient", gradients_[{s, m}], s, m);
        }
      }
    }
  }

  void JudgeCount(const std::string& what, int times, uint32_t stage,
                  uint32_t which) {
    outcome_.wrong.push_back(
        fmt::format("stage {}, {}: {} {} times", stage, which, what, times));
  }

  void JudgeChunk(uint32_t r, uint32_t c) {
    const ChunkState& chunk = ranks_[r].chunks[c];
    const std::string place = fmt::format("rank {}, chunk {}: ", r, c);
    if (chunk.scales == 0) outcome_.wrong.push_back(place + "never scaled");
    if (chunk.updates == 0) outcome_.wrong.push_back(place + "never updated");
    bool replicas_summed = module_.replicas == 1;
    for (uint32_t g = 0; g < module_.groups.size(); ++g) {
      const bytecode::Group& group = module_.groups[g];
      const bool member = std::find(group.ranks.begin(), group.ranks.end(),
                                    Rank(r)) != group.ranks.end();
      if (!member || !IsIn(StageOf(r, c), group)) continue;
      if (!chunk.reductions.contains(g)) {
        outcome_.wrong.push_back(place + fmt::format("not summed over g{}", g));
      } else if (group.kind == bytecode::GroupKind::kReplicas) {
        replicas_summed = true;
      }
    }
    if (!replicas_summed) {
      outcome_.wrong.push_back(place + "not summed over replicas");
    }
  }

  const Module& module_;
  const Rules rules_;
  std::map<Channel, std::set<uint32_t>> offers_;  // hosts that wait to connect
  std::map<Address, Letter> mail_;
  std::vector<RankState> ranks_;
  std::map<Channel, uint32_t> sends_, receives_;
  std::map<std::pair<uint32_t, uint32_t>, int> forwards_, gradients_;
  Outcome outcome_;
};

}  // namespace

std::string Outcome::Text() const {
  std::string text;
  for (const Stop& stop : stuck) text += "stuck: " + stop.text + "\n";
  for (const std::string& fault : wrong) text += "wrong: " + fault + "\n";
  return text;
}

Outcome Emulate(const bytecode::Module& module, const Rules& rules) {
  return Machine(module, rules).Run();
}

}  // namespace pp::testing
