#include "tests/support/random_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/field_notation.h"
#include "tests/support/op_lists.h"

namespace pp::testing {
namespace {

using bytecode::Instr;
using bytecode::Module;
using bytecode::Opcode;
using bytecode::OperandKind;
using ir::OpKind;
using ir::Schedule;
namespace op = bytecode::op;

uint32_t Below(Random& random, size_t n) {
  return static_cast<uint32_t>(random() % n);
}
bool Chance(Random& random, uint32_t percent) {
  return Below(random, 100) < percent;
}

// Stages dealt to ranks at random, each rank at least one.
Schedule RandomFrame(Random& random) {
  const uint32_t ranks = 1 + Below(random, 4);
  std::vector<std::vector<uint32_t>> chunks(ranks);
  std::vector<uint32_t> owner;
  for (uint32_t r = 0; r < ranks; ++r) owner.push_back(r);
  for (uint32_t extra = Below(random, 4); extra > 0; --extra) {
    owner.push_back(Below(random, ranks));
  }
  std::shuffle(owner.begin(), owner.end(), random);
  for (uint32_t s = 0; s < owner.size(); ++s) chunks[owner[s]].push_back(s);
  for (auto& held : chunks) std::shuffle(held.begin(), held.end(), random);
  return Frame(chunks, 1 + Below(random, 4));
}

// Picks, again and again, one of the operations that can run.
Schedule RandomOrder(Random& random) {
  Schedule s = RandomFrame(random);
  const uint32_t stages = s.placement.stages, ms = s.micro_batches;
  const bool split = Chance(random, 40);
  struct Candidate {
    OpKind kind;
    uint32_t stage, mb;
  };
  std::vector<Candidate> open;
  for (uint32_t m = 0; m < ms; ++m) open.push_back({OpKind::kF, 0, m});
  while (!open.empty()) {
    const uint32_t pick = Below(random, open.size());
    const Candidate c = open[pick];
    open.erase(open.begin() + pick);
    const ir::Home home = s.placement.home[c.stage];
    Add(s, home.rank.value, c.kind, c.mb, home.chunk);
    const OpKind back = split ? OpKind::kI : OpKind::kB;
    if (c.kind == OpKind::kF && c.stage + 1 < stages) {
      open.push_back({OpKind::kF, c.stage + 1, c.mb});
    } else if (c.kind == OpKind::kF) {
      open.push_back({back, c.stage, c.mb});
    } else if (c.kind != OpKind::kW) {
      if (c.stage > 0) open.push_back({back, c.stage - 1, c.mb});
      if (split) open.push_back({OpKind::kW, c.stage, c.mb});
    }
  }
  return s;
}

// Words of the field notation, around one rank's operations.
class Writer {
 public:
  Writer(const Schedule& schedule, uint32_t rank, uint32_t slack,
         Random& random)
      : schedule_(schedule), rank_(rank), slack_(slack), random_(random) {}

  std::string Write() {
    for (const ir::Op& op : schedule_.programs[rank_]) Compute(op);
    std::vector<std::pair<std::pair<int, int>, std::string>> sorted;
    for (size_t i = 0; i < words_.size(); ++i) {
      sorted.push_back(
          {{words_[i].first, static_cast<int>(i)}, words_[i].second});
    }
    std::ranges::sort(sorted);
    std::vector<std::string> text;
    for (auto& [place, word] : sorted) text.push_back(word);
    return Grouped(text);
  }

 private:
  uint32_t RankOf(uint32_t stage) const {
    return schedule_.placement.home[stage].rank.value;
  }

  // Operations stand at even places 16 apart, communication between them.
  void Compute(const ir::Op& op) {
    const uint32_t stage = schedule_.StageOf(Rank(rank_), op.chunk);
    const int here = 16 * static_cast<int>(++count_);
    const bool forward = op.kind == OpKind::kF;
    const char letter = forward ? 'F' : 'B';
    const uint32_t last = schedule_.placement.stages - 1;
    words_.push_back(
        {here,
         fmt::format("{}{}.{}", ir::kOpNames[size_t(op.kind)], stage, op.mb)});
    if (op.kind == OpKind::kW) return;
    if (stage != (forward ? 0 : last)) {
      Receive(letter, forward ? stage - 1 : stage + 1, op.mb, here);
    }
    if (stage != (forward ? last : 0)) {
      Send(letter, stage, forward ? stage + 1 : stage - 1, op.mb, here);
    }
  }

  int Distance() { return 16 * static_cast<int>(Below(random_, slack_ + 1)); }

  void Receive(char letter, uint32_t stage, uint32_t mb, int here) {
    if (RankOf(stage) == rank_) return;
    const int at = here - 4 - Distance();
    words_.push_back(
        {at, fmt::format("R{}{}.{}<{}", letter, stage, mb, RankOf(stage))});
    if (Chance(random_, 20)) {
      words_.push_back({at + 1 + Distance() / 2,
                        fmt::format("wR{}{}.{}", letter, stage, mb)});
    }
  }

  void Send(char letter, uint32_t stage, uint32_t to, uint32_t mb, int here) {
    if (RankOf(to) == rank_) return;
    const int at = here + 4 + Distance();
    words_.push_back(
        {at, fmt::format("S{}{}.{}>{}", letter, stage, mb, RankOf(to))});
    if (Chance(random_, 30)) {
      words_.push_back(
          {at + 1 + Distance(), fmt::format("wS{}{}.{}", letter, stage, mb)});
    }
  }

  // Some runs of communication become groups.
  std::string Grouped(const std::vector<std::string>& words) {
    std::string text;
    bool open = false;
    for (size_t i = 0; i < words.size(); ++i) {
      const bool comm = words[i][0] == 'S' || words[i][0] == 'R';
      if (open && (!comm || Chance(random_, 40))) {
        text += "] ";
        open = false;
      }
      if (comm && !open && Chance(random_, grouping_)) {
        text += "[ ";
        open = true;
      }
      text += words[i] + " ";
    }
    return open ? text + "]" : text;
  }

  const Schedule& schedule_;
  uint32_t rank_, slack_;
  Random& random_;
  uint32_t count_ = 0;
  uint32_t grouping_ = random_() % 2 == 0 ? 0 : 25;
  std::vector<std::pair<int, std::string>> words_;
};

// ---- Changes to a module ----

void Regroup(std::vector<Instr>& code, Random& random) {
  const uint32_t a = Below(random, code.size());
  const auto is = [&](Opcode op) { return code[a].op == op; };
  if (is(Opcode::kGroupBegin)) {
    const auto end = std::ranges::find(code, Opcode::kGroupEnd, &Instr::op);
    if (end == code.end()) return;
    const auto after =
        std::find_if(code.begin() + a, code.end(),
                     [](const Instr& i) { return i.op == Opcode::kGroupEnd; });
    if (after != code.end()) code.erase(after);
    code.erase(code.begin() + a);
    return;
  }
  uint32_t b = a;
  while (b < code.size() &&
         (code[b].op == Opcode::kSend || code[b].op == Opcode::kRecv)) {
    ++b;
  }
  if (a == b) return;
  code.insert(code.begin() + b, op::GroupEnd{}.Pack());
  code.insert(code.begin() + a, op::GroupBegin{}.Pack());
}

void ChangeOperand(Module& module, Instr& instr, Random& random) {
  const auto& info = bytecode::Info(instr.op);
  if (info.operand_count == 0) return;
  const uint32_t which = Below(random, info.operand_count);
  const uint32_t limit =
      std::max({module.ranks(), module.micro_batches, module.stages, 3u});
  instr.operand[which] = Below(random, limit);
}

void Move(std::vector<Instr>& code, size_t from, size_t to) {
  const Instr moved = code[from];
  code.erase(code.begin() + std::ptrdiff_t(from));
  to = std::min(to, code.size());
  code.insert(code.begin() + std::ptrdiff_t(to), moved);
}

// The first such instruction at or after `from`.
template <typename Is>
size_t FindAfter(const std::vector<Instr>& code, size_t from, Is is) {
  while (from < code.size() && !is(code[from])) ++from;
  return from;
}

uint32_t* OperandOf(Instr& instr, OperandKind kind) {
  const auto& info = bytecode::Info(instr.op);
  for (size_t i = 0; i < info.operand_count; ++i) {
    if (info.operands[i].kind == kind) return &instr.operand[i];
  }
  return nullptr;
}

// Another value below `limit` for the next operand of this kind.
void ChangeNext(std::vector<Instr>& code, OperandKind kind, uint32_t limit,
                Random& random) {
  for (size_t i = Below(random, code.size()); i < code.size(); ++i) {
    uint32_t* const operand = OperandOf(code[i], kind);
    if (operand == nullptr) continue;
    *operand = Below(random, limit);
    return;
  }
}

// All slots `slot` of the instruction become `other`.
void Rename(Instr& instr, SlotId slot, SlotId other) {
  const auto& info = bytecode::Info(instr.op);
  for (size_t i = 0; i < info.operand_count; ++i) {
    if (info.operands[i].kind == OperandKind::kSlot &&
        instr.operand[i] == slot.value) {
      instr.operand[i] = other.value;
    }
  }
}

// A RECV waits for the FREE of another slot and takes that one instead of its
// own: the rank receives into fewer buffers.
void TakeSlotLater(std::vector<Instr>& code, Random& random) {
  const auto is = [](Opcode op) {
    return [op](const Instr& instr) { return instr.op == op; };
  };
  const size_t at =
      FindAfter(code, Below(random, code.size()), is(Opcode::kRecv));
  if (at == code.size()) return;
  const size_t freed = FindAfter(code, at, is(Opcode::kFree));
  if (freed == code.size()) return;
  const SlotId slot = op::Recv::Of(code[at]).slot;
  const SlotId other = op::Free::Of(code[freed]).slot;
  if (slot == other) return;
  for (size_t i = at; i < code.size(); ++i) {
    const bool last = i > freed && code[i].op == Opcode::kFree &&
                      op::Free::Of(code[i]).slot == slot;
    if (i != freed) Rename(code[i], slot, other);
    if (last) break;
  }
  Move(code, at, freed);
}

// A SEND and the WAIT for it go away together.
void DropSend(std::vector<Instr>& code, Random& random) {
  const uint32_t from = Below(random, code.size());
  for (uint32_t i = from; i < code.size(); ++i) {
    if (code[i].op != Opcode::kSend) continue;
    const uint32_t slot = op::Send::Of(code[i]).slot.value;
    for (uint32_t j = i + 1; j < code.size(); ++j) {
      if (code[j].op != Opcode::kWait || code[j].operand[0] != slot) continue;
      code.erase(code.begin() + j);
      code.erase(code.begin() + i);
      return;
    }
  }
}

// A SEND that has been waited for is issued again.
void AddSend(std::vector<Instr>& code, Random& random) {
  const auto is = [](Opcode op) {
    return [op](const Instr& instr) { return instr.op == op; };
  };
  const size_t send =
      FindAfter(code, Below(random, code.size()), is(Opcode::kSend));
  if (send == code.size()) return;
  const Instr wait = op::Wait{op::Send::Of(code[send]).slot}.Pack();
  const auto waited =
      std::find(code.begin() + std::ptrdiff_t(send), code.end(), wait);
  if (waited == code.end()) return;
  const Instr again = code[send];
  code.insert(waited + 1, {again, wait});
}

void AddReceive(Module& module, uint32_t rank, Random& random) {
  auto& program = module.programs[rank];
  if (module.ranks() < 2 || module.lanes == 0) return;
  const Rank peer((rank + 1 + Below(random, module.ranks() - 1)) %
                  module.ranks());
  const SlotId slot(program.slots++);
  const auto at = program.code.begin() + Below(random, program.code.size());
  const auto payload = static_cast<bytecode::Payload>(Below(random, 2));
  const std::vector<Instr> extra = {
      op::Recv{peer, LaneId(Below(random, module.lanes)), slot, payload,
               StageId(Below(random, module.stages)),
               MicroBatch(Below(random, module.micro_batches))}
          .Pack(),
      op::Wait{slot}.Pack(), op::Free{slot}.Pack()};
  program.code.insert(at, extra.begin(), extra.end());
}

}  // namespace

Schedule RandomSchedule(Random& random) {
  const uint32_t p = 1 + Below(random, 4);
  const uint32_t m = 1 + Below(random, 5);
  switch (Below(random, 7)) {
    case 0:
      return GPipe(p, m);
    case 1:
      return OneFOneB(p, m);
    case 2:
      return OneFOneB(p, m, true);
    case 3:
      return ZbH1(p, p + m - 1);
    case 4:
      return Interleaved(p, p * (1 + Below(random, 2)), 2);
    default:
      return RandomOrder(random);
  }
}

Module RandomModule(const Schedule& schedule, uint32_t slack, Random& random) {
  std::vector<std::string> ranks;
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    ranks.push_back(Writer(schedule, r, slack, random).Write());
  }
  Notation notation;
  notation.chunks = schedule.placement.stage;
  notation.micro_batches = schedule.micro_batches;
  if (Chance(random, 25)) notation.lane = 0;
  const uint32_t stages = schedule.placement.stages;
  const Rank first = schedule.placement.home[0].rank;
  const Rank last = schedule.placement.home[stages - 1].rank;
  if (first != last && Chance(random, 50)) {
    notation.groups.push_back(
        {bytecode::GroupKind::kTied, StageId(0), {first, last}});
  }
  return FromNotation(ranks, notation);
}

const char* Name(Mutation mutation) {
  constexpr const char* kNames[kMutations] = {
      "swap neighbours", "swap",        "move",       "drop",
      "duplicate",       "operand",     "wrong peer", "wrong micro-batch",
      "regroup",         "drop a send", "add a send", "add a receive",
      "fewer slots"};
  return kNames[static_cast<size_t>(mutation)];
}

void Mutate(Module& module, Mutation mutation, Random& random) {
  const uint32_t rank = Below(random, module.ranks());
  auto& code = module.programs[rank].code;
  if (code.empty()) return;
  const uint32_t a = Below(random, code.size());
  const uint32_t b = Below(random, code.size());
  switch (mutation) {
    case Mutation::kSwapNeighbours:
      if (a + 1 < code.size()) std::swap(code[a], code[a + 1]);
      break;
    case Mutation::kSwap:
      std::swap(code[a], code[b]);
      break;
    case Mutation::kMove:
      Move(code, a, b);
      break;
    case Mutation::kDrop:
      code.erase(code.begin() + a);
      break;
    case Mutation::kDuplicate:
      code.insert(code.begin() + b, code[a]);
      break;
    case Mutation::kOperand:
      ChangeOperand(module, code[a], random);
      break;
    case Mutation::kWrongPeer:
      ChangeNext(code, OperandKind::kPeer, module.ranks(), random);
      break;
    case Mutation::kWrongMicroBatch:
      ChangeNext(code, OperandKind::kMicroBatch, module.micro_batches, random);
      break;
    case Mutation::kRegroup:
      Regroup(code, random);
      break;
    case Mutation::kDropSend:
      DropSend(code, random);
      break;
    case Mutation::kAddSend:
      AddSend(code, random);
      break;
    case Mutation::kAddReceive:
      AddReceive(module, rank, random);
      break;
    case Mutation::kFewerSlots:
      TakeSlotLater(code, random);
      break;
  }
}

void Mutate(Schedule& schedule, Random& random) {
  auto& program = schedule.programs[Below(random, schedule.ranks)];
  if (program.empty()) return;
  const uint32_t a = Below(random, program.size());
  const uint32_t b = Below(random, program.size());
  switch (Below(random, 5)) {
    case 0:
    case 1:
      std::swap(program[a], program[b]);
      break;
    case 2:
      program.erase(program.begin() + a);
      break;
    case 3: {
      const ir::Op copy = program[a];
      program.insert(program.begin() + b, copy);
      break;
    }
    case 4:
      program[a].kind = static_cast<OpKind>(Below(random, ir::kOpKinds));
      break;
  }
}

Schedule ComputeOf(const Module& module) {
  std::vector<std::vector<uint32_t>> chunks;
  for (const auto& program : module.programs) {
    auto& held = chunks.emplace_back();
    for (const auto& chunk : program.chunks) held.push_back(chunk.stage.value);
  }
  Schedule schedule = Frame(chunks, module.micro_batches);
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    for (const Instr& instr : module.programs[r].code) {
      if (bytecode::Info(instr.op).op_class != bytecode::OpClass::kCompute) {
        continue;
      }
      const auto i = op::Forward::Of(instr);
      const OpKind kind = instr.op == Opcode::kForward         ? OpKind::kF
                          : instr.op == Opcode::kBackward      ? OpKind::kB
                          : instr.op == Opcode::kBackwardInput ? OpKind::kI
                                                               : OpKind::kW;
      Add(schedule, r, kind, i.mb.value, i.chunk.value);
    }
  }
  return schedule;
}

}  // namespace pp::testing
