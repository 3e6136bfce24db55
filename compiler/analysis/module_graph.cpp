#include "compiler/analysis/module_graph.h"

#include <optional>

#include "compiler/analysis/comm_entries.h"
#include "llvm/ADT/DenseMap.h"

namespace pp::analysis {
namespace {

using bytecode::Instr;
using bytecode::kNoSlot;
using bytecode::Module;
using bytecode::Opcode;
namespace op = bytecode::op;

constexpr Node kNone = 0xFFFFFFFF;

// Nodes and edges while they are collected.
struct Draft {
  EventGraphBuilder builder;
  std::vector<Event> events;

  Node Add(EventKind kind, InstrRef at, InstrRef other = {}) {
    events.push_back({kind, at, other});
    return builder.AddNodes(1);
  }
  void Edge(Node from, Node to, EdgeClass edge_class) {
    if (from != kNone) builder.AddEdge(from, to, edge_class);
  }
};

// The nodes of communication, which belong to more than one rank.
struct CommNodes {
  std::vector<Node> transfer;     // by transfer
  std::vector<Node> start, done;  // by entry: what must be ready, what ends it

  CommNodes(const CommEntries& comm, Draft& draft);
};

CommNodes::CommNodes(const CommEntries& comm, Draft& draft) {
  for (const Transfer& t : comm.transfers) {
    transfer.push_back(draft.Add(EventKind::kTransfer, t.send, t.receive));
  }
  std::vector<Node> join(comm.components, kNone);
  for (const Entry& entry : comm.entries) {
    if (!comm.joined[entry.component]) {
      start.push_back(transfer[entry.transfers[0]]);
      done.push_back(start.back());
      continue;
    }
    const InstrRef begin{entry.rank, entry.begin};
    Node& joined = join[entry.component];
    if (joined == kNone) joined = draft.Add(EventKind::kJoin, begin);
    start.push_back(draft.Add(EventKind::kStart, begin));
    draft.Edge(start.back(), joined, EdgeClass::kGroup);
    const bool group = entry.transfers.size() > 1;
    done.push_back(group ? draft.Add(EventKind::kEnd, {entry.rank, entry.end})
                         : transfer[entry.transfers[0]]);
    for (const uint32_t t : entry.transfers) {
      draft.Edge(joined, transfer[t], EdgeClass::kGroup);
      if (group) draft.Edge(transfer[t], done.back(), EdgeClass::kGroup);
    }
  }
}

// The n-th REDUCE of a group is one event for all the group's ranks.
class Collectives {
 public:
  explicit Collectives(size_t groups) : nodes_(groups) {}

  Node At(GroupId group, uint32_t n, InstrRef at, Draft& draft) {
    auto& nodes = nodes_[group.value];
    if (n == nodes.size()) {
      nodes.push_back(draft.Add(EventKind::kCollective, at));
    }
    return nodes[n];
  }

 private:
  std::vector<std::vector<Node>> nodes_;
};

class RankWalk {
 public:
  RankWalk(const Module& module, Rank rank, const CommEntries& comm,
           const CommNodes& nodes, Collectives& collectives, Draft& draft,
           Tier tier)
      : tier_(tier),
        program_(module.programs[rank.value]),
        rank_(rank),
        comm_(comm),
        nodes_(nodes),
        collectives_(collectives),
        draft_(draft),
        slots_(program_.slots) {}

  void Run() {
    for (pc_ = 0; pc_ < program_.code.size(); ++pc_) {
      const Instr& instr = program_.code[pc_];
      Look(instr);
      const uint32_t entry = comm_.entry_at[rank_.value][pc_];
      if (entry != kNoEntry && comm_.entries[entry].end.value == pc_) {
        Enqueue(entry);
      }
    }
  }

 private:
  struct Slot {
    Node producer = kNone;             // the compute node that filled it
    Node freed_after = kNone;          // the host's node before its last FREE
    uint32_t transfer = kNoEntry;      // that fills it, if a RECV does
    std::optional<uint32_t> waits_on;  // pc of the SEND or RECV under way
  };

  InstrRef Here() const { return {rank_, Pc(pc_)}; }

  void Look(const Instr& instr) {
    switch (instr.op) {
      case Opcode::kForward: {
        const auto i = op::Forward::Of(instr);
        return Compute(i.in, i.out);
      }
      case Opcode::kBackward: {
        const auto i = op::Backward::Of(instr);
        return Compute(i.in, i.out);
      }
      case Opcode::kBackwardInput: {
        const auto i = op::BackwardInput::Of(instr);
        return Compute(i.in, i.out);
      }
      case Opcode::kBackwardWeight:
        return Compute(kNoSlot, kNoSlot);
      case Opcode::kSend:
        slots_[op::Send::Of(instr).slot.value].waits_on = pc_;
        return;
      case Opcode::kRecv: {
        Slot& slot = slots_[op::Recv::Of(instr).slot.value];
        slot.waits_on = pc_;
        slot.transfer = comm_.transfer_at[rank_.value][pc_];
        return;
      }
      case Opcode::kWait:
        return Wait(slots_[op::Wait::Of(instr).slot.value]);
      case Opcode::kFree:
        slots_[op::Free::Of(instr).slot.value] = {kNone, host_, kNoEntry, {}};
        return;
      case Opcode::kReduce:
        return Reduce(op::Reduce::Of(instr).group);
      case Opcode::kGroupBegin:
      case Opcode::kGroupEnd:
      case Opcode::kScale:
      case Opcode::kUpdate:
        return;
    }
  }

  void Compute(SlotId in, SlotId out) {
    const Node node = draft_.Add(EventKind::kCompute, Here());
    if (host_ != compute_) draft_.Edge(host_, node, EdgeClass::kHost);
    draft_.Edge(compute_, node, EdgeClass::kProg);
    if (in != kNoSlot && slots_[in.value].transfer != kNoEntry) {
      draft_.Edge(nodes_.transfer[slots_[in.value].transfer], node,
                  EdgeClass::kData);
    }
    if (out != kNoSlot) slots_[out.value].producer = node;
    host_ = compute_ = node;
  }

  void Wait(Slot& slot) {
    const Node node = draft_.Add(EventKind::kWait, Here(),
                                 {rank_, Pc(slot.waits_on.value_or(pc_))});
    draft_.Edge(host_, node, EdgeClass::kHost);
    host_ = node;
    if (!slot.waits_on) return;
    draft_.Edge(DoneOf(*slot.waits_on), node, EdgeClass::kWait);
    slot.waits_on.reset();
  }

  // What completes the SEND or RECV at `pc`: the end of its group, if any.
  Node DoneOf(uint32_t pc) const {
    return nodes_.done[comm_.entry_at[rank_.value][pc]];
  }

  void Reduce(GroupId group) {
    const Node node =
        collectives_.At(group, reduces_[group.value]++, Here(), draft_);
    draft_.Edge(host_, node, EdgeClass::kHost);
    draft_.Edge(queue_, node, EdgeClass::kDevice);
    host_ = queue_ = node;
    queue_lane_.reset();
  }

  // The entry is issued here; what it waits for on this rank.
  void Enqueue(uint32_t number) {
    const Entry& entry = comm_.entries[number];
    const Node start = nodes_.start[number];
    bool explained = false;  // host_ -> start has an edge with a better reason
    for (uint32_t pc = entry.begin.value; pc <= entry.end.value; ++pc) {
      const uint32_t transfer = comm_.transfer_at[rank_.value][pc];
      if (transfer == kNoEntry) continue;
      explained |= EdgesOf(pc, nodes_.transfer[transfer], start);
    }
    if (!explained) draft_.Edge(host_, start, EdgeClass::kHost);
    QueueUp(entry, start);
    queue_ = nodes_.done[number];
  }

  // Of one end of a transfer. True: one of them comes from the host's node.
  bool EdgesOf(uint32_t pc, Node transfer, Node start) {
    const Instr& instr = program_.code[pc];
    if (instr.op == Opcode::kSend) {
      const Slot& slot = slots_[op::Send::Of(instr).slot.value];
      const Node producer = slot.transfer == kNoEntry
                                ? slot.producer
                                : nodes_.transfer[slot.transfer];
      draft_.Edge(producer, transfer, EdgeClass::kData);
      if (start != transfer) draft_.Edge(producer, start, EdgeClass::kGroup);
      return producer == host_ && host_ != kNone;
    }
    const Node freed = slots_[op::Recv::Of(instr).slot.value].freed_after;
    draft_.Edge(freed, start, EdgeClass::kSlot);
    return freed == host_ && host_ != kNone;
  }

  void QueueUp(const Entry& entry, Node start) {
    std::optional<uint32_t> lane;
    if (entry.transfers.size() == 1) {
      lane = op::Send::Of(program_.code[entry.end.value]).lane.value;
    }
    const bool same_lane = lane && lane == queue_lane_;
    switch (tier_) {
      case Tier::kStrict:  // one queue, whatever the lane
        draft_.Edge(queue_, start,
                    same_lane ? EdgeClass::kLane : EdgeClass::kDevice);
        break;
    }
    queue_lane_ = lane;
  }

  Tier tier_;
  const bytecode::RankProgram& program_;
  Rank rank_;
  const CommEntries& comm_;
  const CommNodes& nodes_;
  Collectives& collectives_;
  Draft& draft_;
  std::vector<Slot> slots_;
  llvm::DenseMap<uint32_t, uint32_t> reduces_;  // by group, so far
  uint32_t pc_ = 0;
  Node host_ = kNone;                   // the last event that blocked the host
  Node compute_ = kNone;                // the last compute operation
  Node queue_ = kNone;                  // the end of the last entry
  std::optional<uint32_t> queue_lane_;  // of a lone transfer there
};

}  // namespace

ModuleGraph BuildModuleGraph(const Module& module, const CommMatch& match,
                             Tier tier) {
  const CommEntries comm = BuildEntries(module, match);
  Draft draft;
  const CommNodes nodes(comm, draft);
  Collectives collectives(module.groups.size());
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    RankWalk(module, Rank(r), comm, nodes, collectives, draft, tier).Run();
  }
  return {std::move(draft.builder).Build(), std::move(draft.events)};
}

}  // namespace pp::analysis
