// The walk over one rank that follows every slot and stash entry.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/bytecode/verify_rank.h"

namespace pp::bytecode::internal {
namespace {

enum class SlotState : uint8_t { kEmpty, kReceiving, kFull, kSending };
enum class StashState : uint8_t { kEmpty, kHeld, kHalf };

struct Stash {
  StashState state = StashState::kEmpty;
  ChunkId chunk;
  MicroBatch mb;
};

// A Fault is the cause, or empty when the step is fine.
using Fault = std::string;

std::string_view Describe(SlotState state) {
  switch (state) {
    case SlotState::kEmpty:
      return "is empty: nothing was received into it";
    case SlotState::kReceiving:
      return "is being received into: no `wait` yet";
    case SlotState::kFull:
      return "is full: a tensor in it was not freed";
    case SlotState::kSending:
      return "is being sent: no `wait` yet";
  }
  return "?";
}

class StateWalk {
 public:
  StateWalk(const Module& module, Rank rank)
      : module_(module),
        rank_(rank),
        program_(module.programs[rank.value]),
        slots_(program_.slots, SlotState::kEmpty),
        stashes_(program_.stashes) {}

  Fault StepInstr(const Instr& instr) {
    if (in_group_ && Info(instr.op).op_class != OpClass::kComm &&
        instr.op != Opcode::kGroupEnd) {
      return "only `send` and `recv` may stand between `group_begin` and "
             "`group_end`";
    }
    switch (instr.op) {
#define PP_OP(Name, ...) \
  case Opcode::k##Name:  \
    return Step(op::Name::Of(instr));
#include "runtime/bytecode/opcodes.def"
    }
    return "no such opcode";
  }

  Fault AtEnd() const {
    if (in_group_) return "a `group_begin` has no `group_end`";
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i] != SlotState::kEmpty) {
        return fmt::format("slot %{} {}", i, Describe(slots_[i]));
      }
    }
    for (size_t i = 0; i < stashes_.size(); ++i) {
      const Stash& stash = stashes_[i];
      if (stash.state != StashState::kEmpty) {
        return fmt::format(
            "stash ${} still holds c{} m{}: no backward freed "
            "it",
            i, stash.chunk.value, stash.mb.value);
      }
    }
    return "";
  }

 private:
  // ---- Compute ----

  Fault Step(const op::Forward& op) {
    if (Fault f = CheckEnds(op.chunk, op.in, IsFirst(op.chunk), op.out,
                            IsLast(op.chunk));
        !f.empty()) {
      return f;
    }
    Stash& stash = stashes_[op.stash.value];
    if (stash.state != StashState::kEmpty) {
      return fmt::format("stash ${} is in use: it holds c{} m{}",
                         op.stash.value, stash.chunk.value, stash.mb.value);
    }
    stash = {StashState::kHeld, op.chunk, op.mb};
    return ReadThenFill(op.in, op.out);
  }

  Fault Step(const op::Backward& op) {
    return StepBackward(op, StashState::kEmpty);
  }
  Fault Step(const op::BackwardInput& op) {
    return StepBackward(op, StashState::kHalf);
  }

  // A backward over the input, full or half; the stash is `after` it.
  template <class Op>
  Fault StepBackward(const Op& op, StashState after) {
    Fault f =
        CheckEnds(op.chunk, op.in, IsLast(op.chunk), op.out, IsFirst(op.chunk));
    if (f.empty()) f = TakeStash(op, StashState::kHeld, after);
    return f.empty() ? ReadThenFill(op.in, op.out) : f;
  }

  Fault Step(const op::BackwardWeight& op) {
    return TakeStash(op, StashState::kHalf, StashState::kEmpty);
  }

  // ---- Communication ----

  Fault Step(const op::Send& op) {
    if (op.peer == rank_) return "a rank sends to itself";
    if (slots_[op.slot.value] != SlotState::kFull) return SlotFault(op.slot);
    slots_[op.slot.value] = SlotState::kSending;
    return "";
  }

  Fault Step(const op::Recv& op) {
    if (op.peer == rank_) return "a rank receives from itself";
    if (slots_[op.slot.value] != SlotState::kEmpty) return SlotFault(op.slot);
    slots_[op.slot.value] = SlotState::kReceiving;
    return "";
  }

  Fault Step(const op::Wait& op) {
    SlotState& state = slots_[op.slot.value];
    if (state == SlotState::kFull) {
      return fmt::format("slot %{} has no `send` or `recv` to wait for",
                         op.slot.value);
    }
    if (state == SlotState::kEmpty) return SlotFault(op.slot);
    state = SlotState::kFull;
    return "";
  }

  Fault Step(const op::Free& op) {
    if (slots_[op.slot.value] != SlotState::kFull) return SlotFault(op.slot);
    slots_[op.slot.value] = SlotState::kEmpty;
    return "";
  }

  Fault Step(const op::GroupBegin&) {
    in_group_ = true;  // one inside another: StepInstr has refused it
    return "";
  }

  Fault Step(const op::GroupEnd&) {
    if (!in_group_) return "no `group_begin` before it";
    in_group_ = false;
    return "";
  }

  // ---- Once per step and chunk ----

  Fault Step(const op::Scale&) { return ""; }
  Fault Step(const op::Update&) { return ""; }
  Fault Step(const op::Reduce& op) {
    const std::vector<Rank>& ranks = module_.groups[op.group.value].ranks;
    if (std::ranges::find(ranks, rank_) != ranks.end()) return "";
    return fmt::format("rank {} is not in group g{}", rank_.value,
                       op.group.value);
  }

  // ---- Helpers ----

  StageId StageOf(ChunkId chunk) const {
    return program_.chunks[chunk.value].stage;
  }
  bool IsFirst(ChunkId chunk) const { return StageOf(chunk).value == 0; }
  bool IsLast(ChunkId chunk) const {
    return StageOf(chunk).value + 1 == module_.stages;
  }

  Fault SlotFault(SlotId slot) const {
    return fmt::format("slot %{} {}", slot.value, Describe(slots_[slot.value]));
  }

  // `-` exactly at the end of the pipeline that has no tensor there.
  Fault CheckEnds(ChunkId chunk, SlotId in, bool no_in, SlotId out,
                  bool no_out) const {
    const auto check = [&](std::string_view name, SlotId slot, bool none) {
      if ((slot == kNoSlot) == none) return Fault();
      return fmt::format("stage {} of {} {} `{}` slot here",
                         StageOf(chunk).value, module_.stages,
                         none ? "has no" : "needs an", name);
    };
    Fault f = check(kInOperand, in, no_in);
    return f.empty() ? check(kOutOperand, out, no_out) : f;
  }

  Fault ReadThenFill(SlotId in, SlotId out) {
    if (in != kNoSlot) {
      const SlotState state = slots_[in.value];
      const bool readable =
          state == SlotState::kFull || state == SlotState::kSending;
      if (!readable) return SlotFault(in);
    }
    if (out == kNoSlot) return "";
    if (slots_[out.value] != SlotState::kEmpty) return SlotFault(out);
    slots_[out.value] = SlotState::kFull;
    return "";
  }

  template <class Op>
  Fault TakeStash(const Op& op, StashState before, StashState after) {
    Stash& stash = stashes_[op.stash.value];
    if (stash.state != before) return WrongStash(op.stash);
    if (stash.chunk != op.chunk || stash.mb != op.mb) {
      return fmt::format("stash ${} holds c{} m{}, not c{} m{}", op.stash.value,
                         stash.chunk.value, stash.mb.value, op.chunk.value,
                         op.mb.value);
    }
    stash.state = after;
    return "";
  }

  Fault WrongStash(StashId id) const {
    switch (stashes_[id.value].state) {
      case StashState::kEmpty:
        return fmt::format("stash ${} is empty: no forward filled it",
                           id.value);
      case StashState::kHalf:
        return fmt::format(
            "stash ${} has had its input half: only "
            "`backward_weight` may follow",
            id.value);
      case StashState::kHeld:
        break;
    }
    return fmt::format(
        "stash ${} has not had its input half: "
        "`backward_input` comes first",
        id.value);
  }

  const Module& module_;
  const Rank rank_;
  const RankProgram& program_;
  std::vector<SlotState> slots_;
  std::vector<Stash> stashes_;
  bool in_group_ = false;
};

}  // namespace

Status VerifyStates(const Module& module, Rank rank) {
  const RankProgram& program = module.programs[rank.value];
  StateWalk walk(module, rank);
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    const Fault fault = walk.StepInstr(program.code[pc]);
    if (!fault.empty()) return InstrError(module, rank, pc, fault);
  }
  const Fault fault = walk.AtEnd();
  if (fault.empty()) return OkStatus();
  return InputError(fmt::format("rank {}, at the end: {}", rank.value, fault));
}

}  // namespace pp::bytecode::internal
