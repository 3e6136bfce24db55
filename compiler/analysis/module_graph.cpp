#include "compiler/analysis/module_graph.h"

#include <map>
#include <optional>
#include <tuple>

#include "compiler/analysis/comm_entries.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

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
  std::vector<Node> send, receive;  // by transfer; one node but for `eager`
  std::vector<Node> start, done;  // by entry: what must be ready, what ends it

  CommNodes(const CommEntries& comm, Tier tier, Draft& draft);

 private:
  void Rendezvous(const CommEntries& comm, Draft& draft);
  void Eager(const CommEntries& comm, Draft& draft);
};

CommNodes::CommNodes(const CommEntries& comm, Tier tier, Draft& draft) {
  if (tier == Tier::kEager) {
    Eager(comm, draft);
  } else {
    Rendezvous(comm, draft);
  }
}

// Sends need nobody, so that no entry has to start with another one.
void CommNodes::Eager(const CommEntries& comm, Draft& draft) {
  for (const Transfer& t : comm.transfers) {
    send.push_back(draft.Add(EventKind::kSent, t.send));
    receive.push_back(draft.Add(EventKind::kReceived, t.receive));
    draft.Edge(send.back(), receive.back(), EdgeClass::kData);
  }
  const auto node_of = [&](const Entry& entry, uint32_t t) {
    const Transfer& transfer = comm.transfers[t];
    return transfer.send.rank == entry.rank ? send[t] : receive[t];
  };
  for (const Entry& entry : comm.entries) {
    if (entry.transfers.size() == 1) {
      start.push_back(node_of(entry, entry.transfers[0]));
      done.push_back(start.back());
      continue;
    }
    start.push_back(draft.Add(EventKind::kStart, {entry.rank, entry.begin}));
    done.push_back(draft.Add(EventKind::kEnd, {entry.rank, entry.end}));
    for (const uint32_t t : entry.transfers) {
      draft.Edge(start.back(), node_of(entry, t), EdgeClass::kGroup);
      draft.Edge(node_of(entry, t), done.back(), EdgeClass::kGroup);
    }
  }
}

void CommNodes::Rendezvous(const CommEntries& comm, Draft& draft) {
  for (const Transfer& t : comm.transfers) {
    send.push_back(draft.Add(EventKind::kTransfer, t.send, t.receive));
  }
  receive = send;
  std::vector<Node> join(comm.components, kNone);
  for (const Entry& entry : comm.entries) {
    if (!comm.joined[entry.component]) {
      start.push_back(send[entry.transfers[0]]);
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
                         : send[entry.transfers[0]]);
    for (const uint32_t t : entry.transfers) {
      draft.Edge(joined, send[t], EdgeClass::kGroup);
      if (group) draft.Edge(send[t], done.back(), EdgeClass::kGroup);
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

// The first transfer of a channel, as one event for both its hosts.
class Connections {
 public:
  explicit Connections(bool any) : any_(any) {}

  bool any() const { return any_; }  // hosts wait to be connected

  Node At(const Transfer& transfer, LaneId lane, Draft& draft) {
    const auto key =
        std::make_tuple(transfer.send.rank, transfer.receive.rank, lane);
    const auto [found, fresh] = nodes_.try_emplace(key, kNone);
    if (fresh) {
      found->second =
          draft.Add(EventKind::kConnect, transfer.send, transfer.receive);
    }
    return found->second;
  }

 private:
  bool any_;
  std::map<std::tuple<Rank, Rank, LaneId>, Node> nodes_;
};

class RankWalk {
 public:
  RankWalk(const Module& module, Rank rank, const CommEntries& comm,
           const CommNodes& nodes, Collectives& collectives,
           Connections& connections, Draft& draft, Tier tier)
      : tier_(tier),
        program_(module.programs[rank.value]),
        rank_(rank),
        comm_(comm),
        nodes_(nodes),
        collectives_(collectives),
        connections_(connections),
        draft_(draft),
        slots_(program_.slots) {}

  void Run() {
    for (pc_ = 0; pc_ < program_.code.size(); ++pc_) {
      const Instr& instr = program_.code[pc_];
      Look(instr);
      const uint32_t entry = comm_.entry_at[rank_.value][pc_];
      if (entry != kNoEntry && comm_.entries[entry].end.value == pc_) {
        Connect(comm_.entries[entry]);
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
      draft_.Edge(nodes_.receive[slots_[in.value].transfer], node,
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
    if (tier_ == Tier::kLanes) {  // a communicator of the group's own
      Node& last = groups_.try_emplace(group.value, kNone).first->second;
      draft_.Edge(last, node, EdgeClass::kLane);
      last = node;
    } else {
      draft_.Edge(queue_, node, EdgeClass::kDevice);
      queue_ = node;
      queue_lane_.reset();
    }
    host_ = node;
  }

  // Channels that the entry is the first to use block the host.
  void Connect(const Entry& entry) {
    if (!connections_.any()) return;
    llvm::SmallVector<Node, 2> fresh;
    for (const uint32_t t : entry.transfers) {
      const Transfer& transfer = comm_.transfers[t];
      const bool sends = transfer.send.rank == rank_;
      const Pc pc = sends ? transfer.send.pc : transfer.receive.pc;
      const LaneId lane = LaneOf(pc.value);
      const Node node = connections_.At(transfer, lane, draft_);
      if (!connected_.insert(node).second) continue;
      draft_.Edge(host_, node, EdgeClass::kConnect);
      fresh.push_back(node);
    }
    if (fresh.empty()) return;
    if (fresh.size() == 1) {
      host_ = fresh[0];
      return;
    }
    const Node all = draft_.Add(EventKind::kStart, {rank_, entry.begin});
    for (const Node node : fresh) draft_.Edge(node, all, EdgeClass::kConnect);
    host_ = all;
  }

  LaneId LaneOf(uint32_t pc) const {
    const Instr& instr = program_.code[pc];
    return instr.op == Opcode::kSend ? op::Send::Of(instr).lane
                                     : op::Recv::Of(instr).lane;
  }

  // The entry is issued here; what it waits for on this rank.
  void Enqueue(uint32_t number) {
    const Entry& entry = comm_.entries[number];
    const Node start = nodes_.start[number];
    bool explained = false;  // host_ -> start has an edge with a better reason
    for (uint32_t pc = entry.begin.value; pc <= entry.end.value; ++pc) {
      const uint32_t transfer = comm_.transfer_at[rank_.value][pc];
      if (transfer == kNoEntry) continue;
      explained |= EdgesOf(pc, transfer, start);
    }
    if (!explained) draft_.Edge(host_, start, EdgeClass::kHost);
    QueueUp(entry, start, nodes_.done[number]);
  }

  // Of one end of a transfer. True: one of them comes from the host's node.
  bool EdgesOf(uint32_t pc, uint32_t transfer, Node start) {
    const Instr& instr = program_.code[pc];
    if (instr.op == Opcode::kSend) {
      const Slot& slot = slots_[op::Send::Of(instr).slot.value];
      const Node producer = slot.transfer == kNoEntry
                                ? slot.producer
                                : nodes_.receive[slot.transfer];
      const Node send = nodes_.send[transfer];
      draft_.Edge(producer, send, EdgeClass::kData);
      if (start != send) draft_.Edge(producer, start, EdgeClass::kGroup);
      return producer == host_ && host_ != kNone;
    }
    const Node freed = slots_[op::Recv::Of(instr).slot.value].freed_after;
    draft_.Edge(freed, start, EdgeClass::kSlot);
    return freed == host_ && host_ != kNone;
  }

  // After what stands before the entry in its queue, or queues.
  void QueueUp(const Entry& entry, Node start, Node done) {
    if (tier_ == Tier::kLanes) return QueueUpOnLanes(entry, start, done);
    std::optional<uint32_t> lane;
    if (entry.transfers.size() == 1) lane = LaneOf(entry.end.value).value;
    const bool same_lane = lane && lane == queue_lane_;
    draft_.Edge(queue_, start,
                same_lane ? EdgeClass::kLane : EdgeClass::kDevice);
    queue_ = done;
    queue_lane_ = lane;
  }

  void QueueUpOnLanes(const Entry& entry, Node start, Node done) {
    llvm::SmallVector<uint32_t, 2> seen;
    for (uint32_t pc = entry.begin.value; pc <= entry.end.value; ++pc) {
      if (comm_.transfer_at[rank_.value][pc] == kNoEntry) continue;
      const uint32_t lane = LaneOf(pc).value;
      if (llvm::is_contained(seen, lane)) continue;
      seen.push_back(lane);
      Node& last = lanes_.try_emplace(lane, kNone).first->second;
      draft_.Edge(last, start, EdgeClass::kLane);
      last = done;
    }
  }

  Tier tier_;
  const bytecode::RankProgram& program_;
  Rank rank_;
  const CommEntries& comm_;
  const CommNodes& nodes_;
  Collectives& collectives_;
  Connections& connections_;
  Draft& draft_;
  std::vector<Slot> slots_;
  llvm::DenseMap<uint32_t, uint32_t> reduces_;  // by group, so far
  uint32_t pc_ = 0;
  Node host_ = kNone;     // the last event that blocked the host
  Node compute_ = kNone;  // the last compute operation
  Node queue_ = kNone;    // the end of the last entry
  llvm::DenseMap<uint32_t, Node> lanes_, groups_;  // tier lanes: by lane, group
  llvm::DenseSet<Node> connected_;
  std::optional<uint32_t> queue_lane_;  // of a lone transfer there
};

}  // namespace

std::string_view TierName(Tier tier) {
  switch (tier) {
    case Tier::kStrict:
      return "strict";
    case Tier::kLanes:
      return "lanes";
    case Tier::kEager:
      return "eager";
  }
  return "";
}

ModuleGraph BuildModuleGraph(const Module& module, const CommMatch& match,
                             const Assumptions& assumptions) {
  const CommEntries comm = BuildEntries(module, match);
  Draft draft;
  const CommNodes nodes(comm, assumptions.tier, draft);
  Connections connections(assumptions.first_connection);
  Collectives collectives(module.groups.size());
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    RankWalk(module, Rank(r), comm, nodes, collectives, connections, draft,
             assumptions.tier)
        .Run();
  }
  return {std::move(draft.builder).Build(), std::move(draft.events)};
}

}  // namespace pp::analysis
