// Rule: a group is one start of the device: NCCL takes at most 2,048 operations
// between ncclGroupStart and ncclGroupEnd (its user guide, "Group Calls"). Two
// sends, or two receives, of one peer on one lane in a group are told apart by
// their order alone: legal, and a slip more often than meant.
// Codes: GroupTooLarge (3006), GroupTwice (3007, a warning). Cost: linear.
//
//   [ send act s0 m0 to r1; send act s0 m1 to r1 ]      // m0 first, on both
//   ends
#include <fmt/format.h>

#include <map>

#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"

namespace pp::check {
namespace {

using bytecode::Instr;
using bytecode::Opcode;
namespace op = bytecode::op;

constexpr uint32_t kMostInAGroup = 2048;

class Groups {
 public:
  Groups(const bytecode::Module& module, Rank rank, diag::Emitter& diag)
      : module_(module), rank_(rank), diag_(diag) {}

  bool Run() {
    const auto& code = module_.programs[rank_.value].code;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      const Instr& instr = code[pc];
      if (instr.op == Opcode::kGroupBegin) {
        begin_ = pc;
        inside_ = true;
        count_ = 0;
        first_.clear();
      } else if (instr.op == Opcode::kGroupEnd) {
        inside_ = false;
        if (count_ > kMostInAGroup) TooLarge();
      } else if (inside_ &&
                 (instr.op == Opcode::kSend || instr.op == Opcode::kRecv)) {
        Look(instr, pc);
      }
    }
    return ok_;
  }

 private:
  void Look(const Instr& instr, uint32_t pc) {
    ++count_;
    // SEND and RECV have the same operands.
    const auto i = op::Send::Of(instr);
    const auto [found, fresh] =
        first_.try_emplace({instr.op, i.peer, i.lane}, pc);
    if (fresh || twice_) return;
    twice_ = true;  // one is enough of a rank
    const InstrRef at{rank_, Pc(pc)};
    diag_
        .Emit(diag::Code::kGroupTwice, Where(module_, at),
              fmt::format("{} is the second of its peer, direction and lane "
                          "in one group",
                          NameAt(module_, at)))
        .Note(Where(module_, {rank_, Pc(found->second)}),
              fmt::format("{} is the first",
                          NameAt(module_, {rank_, Pc(found->second)})))
        .Help("their order has to be the same on the other rank");
  }

  void TooLarge() {
    ok_ = false;
    const InstrRef at{rank_, Pc(begin_)};
    diag_
        .Emit(diag::Code::kGroupTooLarge, Where(module_, at),
              fmt::format("rank {}: the group at pc {} holds {} transfers, "
                          "NCCL takes at most {}",
                          rank_.value, begin_, count_, kMostInAGroup))
        .Help("cut it into several groups, at the same places on all ranks");
  }

  const bytecode::Module& module_;
  Rank rank_;
  diag::Emitter& diag_;
  uint32_t begin_ = 0, count_ = 0;
  bool inside_ = false, twice_ = false, ok_ = true;
  std::map<std::tuple<Opcode, Rank, LaneId>, uint32_t> first_;
};

}  // namespace

bool ModuleGroups(const ModuleContext& context, diag::Emitter& diag) {
  bool ok = true;
  for (uint32_t r = 0; r < context.module.ranks(); ++r) {
    ok &= Groups(context.module, Rank(r), diag).Run();
  }
  return ok;
}

}  // namespace pp::check
