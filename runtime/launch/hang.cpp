#include "runtime/launch/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/bytecode/text.h"

namespace pp::launch {
namespace {

using bytecode::Instr;
using bytecode::Module;
using bytecode::Opcode;
namespace op = bytecode::op;

// The other end of a blocked instruction.
struct Awaited {
  std::vector<Rank> ranks;  // any of these may be the one that is missing
  std::string what;         // "act s0 m3 from rank 0 on lane 0"
  std::optional<Instr> transfer;
};

template <class Typed>
std::string TransferText(const Typed& in, const char* preposition) {
  return fmt::format("{} s{} m{} {} rank {} on lane {}",
                     PayloadName(in.payload), in.stage.value, in.mb.value,
                     preposition, in.peer.value, in.lane.value);
}

// A WAIT completes the last SEND or RECV before it on the same slot.
std::optional<Awaited> AwaitedTransfer(const bytecode::RankProgram& program,
                                       uint32_t pc) {
  const SlotId slot = op::Wait::Of(program.code[pc]).slot;
  for (uint32_t back = pc; back-- > 0;) {
    const Instr& instr = program.code[back];
    if (instr.op == Opcode::kSend && op::Send::Of(instr).slot == slot) {
      const auto send = op::Send::Of(instr);
      return Awaited{
          {send.peer}, "a receiver of " + TransferText(send, "to"), instr};
    }
    if (instr.op == Opcode::kRecv && op::Recv::Of(instr).slot == slot) {
      const auto recv = op::Recv::Of(instr);
      return Awaited{{recv.peer}, TransferText(recv, "from"), instr};
    }
  }
  return std::nullopt;
}

std::optional<Awaited> AwaitedBy(const Module& module, Rank rank,
                                 const RankPlace& place) {
  const bytecode::RankProgram& program = module.programs[rank.value];
  if (place.pc >= program.code.size()) return std::nullopt;
  const Instr& instr = program.code[place.pc];
  if (instr.op == Opcode::kWait) return AwaitedTransfer(program, place.pc);
  if (instr.op != Opcode::kReduce) return std::nullopt;
  const GroupId group = op::Reduce::Of(instr).group;
  Awaited awaited{{}, fmt::format("the sum of group {}", group.value), {}};
  for (const Rank other : module.groups[group.value].ranks) {
    if (other != rank) awaited.ranks.push_back(other);
  }
  return awaited;
}

std::string InstrText(const Module& module, Rank rank, uint32_t pc) {
  const bytecode::RankProgram& program = module.programs[rank.value];
  if (pc >= program.code.size()) return "the end of its program";
  const std::string site = PrintSite(module, rank, Pc(pc));
  return fmt::format("pc {} `{}`{}{}", pc, PrintInstr(program.code[pc]),
                     site.empty() ? "" : " at ", site);
}

bool AtSameReduce(const Module& module, const RankPlace& place, Rank rank,
                  const Instr& reduce) {
  const bytecode::RankProgram& program = module.programs[rank.value];
  return place.state == RankState::kRunning && place.pc < program.code.size() &&
         program.code[place.pc] == reduce;
}

// Of the ranks that are awaited, the lowest that has not come.
std::optional<Rank> Missing(const Module& module, Rank rank,
                            std::span<const RankPlace> places,
                            const Awaited& awaited) {
  if (awaited.transfer) return awaited.ranks.front();
  const Instr& reduce = module.programs[rank.value].code[places[rank.value].pc];
  for (const Rank other : awaited.ranks) {
    if (!AtSameReduce(module, places[other.value], other, reduce)) return other;
  }
  return std::nullopt;
}

// The instruction of the other end that would complete `transfer` of `rank`.
bool HasCounterpart(const Module& module, Rank rank, const Instr& transfer) {
  const bool sends = transfer.op == Opcode::kSend;
  const auto mine = op::Send::Of(transfer);  // the fields of both are the same
  const auto& code = module.programs[mine.peer.value].code;
  return std::any_of(code.begin(), code.end(), [&](const Instr& instr) {
    if (instr.op != (sends ? Opcode::kRecv : Opcode::kSend)) return false;
    const auto theirs = op::Send::Of(instr);
    return theirs.peer == rank && theirs.lane == mine.lane &&
           theirs.payload == mine.payload && theirs.stage == mine.stage &&
           theirs.mb == mine.mb;
  });
}

std::string WaitsFor(Rank rank, const Awaited& awaited) {
  return fmt::format("rank {} waits for {}", rank.value, awaited.what);
}

std::string AtItsEnd(const Module& module, Rank rank, const Awaited& awaited,
                     Rank peer) {
  std::string text = fmt::format("{}, but rank {} has ended its program",
                                 WaitsFor(rank, awaited), peer.value);
  if (awaited.transfer && !HasCounterpart(module, rank, *awaited.transfer)) {
    text += awaited.transfer->op == Opcode::kSend ? ", which never receives it"
                                                  : ", which never sends it";
  }
  return text;
}

std::string Circle(const Module& module, std::span<const RankPlace> places,
                   std::span<const Rank> members) {
  std::vector<uint32_t> numbers;
  std::string hops;
  for (const Rank rank : members) {
    numbers.push_back(rank.value);
    const auto awaited = AwaitedBy(module, rank, places[rank.value]);
    hops +=
        fmt::format("{}{}", hops.empty() ? "" : "; ", WaitsFor(rank, *awaited));
  }
  std::sort(numbers.begin(), numbers.end());
  return fmt::format("ranks {} wait for each other: {}",
                     fmt::join(numbers, ", "), hops);
}

// Follows "waits for" from one rank until the cause.
std::string Follow(const Module& module, std::span<const RankPlace> places,
                   Rank start) {
  std::vector<Rank> path;
  Rank rank = start;
  while (true) {
    const auto seen = std::find(path.begin(), path.end(), rank);
    if (seen != path.end()) {
      return Circle(module, places, std::span(seen, path.end()));
    }
    path.push_back(rank);
    const RankPlace& place = places[rank.value];
    const auto awaited = AwaitedBy(module, rank, place);
    const auto missing =
        awaited ? Missing(module, rank, places, *awaited) : std::nullopt;
    if (!missing) {
      return fmt::format("rank {} has been in {} for {:.1f} s", rank.value,
                         InstrText(module, rank, place.pc), place.seconds);
    }
    if (places[missing->value].state != RankState::kRunning) {
      return AtItsEnd(module, rank, *awaited, *missing);
    }
    rank = *missing;
  }
}

}  // namespace

std::string DescribePlace(const Module& module, Rank rank,
                          const RankPlace& place) {
  const std::string head = fmt::format("rank {}: ", rank.value);
  switch (place.state) {
    case RankState::kStarting:
      return head + "is starting";
    case RankState::kIdle:
      return head + fmt::format("step {}, has ended its program", place.step);
    case RankState::kRunning:
    case RankState::kEnded:
      break;
  }
  const bool stopped = place.state == RankState::kEnded;
  std::string text = head + fmt::format("step {}, {}{}", place.step,
                                        stopped ? "ended at " : "",
                                        InstrText(module, rank, place.pc));
  if (place.state == RankState::kRunning) {
    text += fmt::format(", for {:.1f} s", place.seconds);
  }
  const auto awaited = AwaitedBy(module, rank, place);
  if (awaited) {
    text += (stopped ? ": waited for " : ": waits for ") + awaited->what;
  }
  return text;
}

std::string ExplainHang(const Module& module,
                        std::span<const RankPlace> places) {
  for (uint32_t r = 0; r < places.size(); ++r) {
    if (places[r].state == RankState::kRunning &&
        AwaitedBy(module, Rank(r), places[r])) {
      return Follow(module, places, Rank(r));
    }
  }
  for (uint32_t r = 0; r < places.size(); ++r) {
    if (places[r].state == RankState::kRunning) {
      return Follow(module, places, Rank(r));
    }
  }
  return "no rank is running";
}

}  // namespace pp::launch
