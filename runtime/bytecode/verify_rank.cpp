// One rank's tables, and the generic bounds pass over its operands.
#include "runtime/bytecode/verify_rank.h"

#include <fmt/format.h>

#include <array>

#include "runtime/bytecode/text.h"

namespace pp::bytecode::internal {
namespace {

constexpr size_t kOperandKinds = 1  // kNone
#define PP_OPERAND(...) +1
#include "runtime/bytecode/operand_kinds.def"
    ;

// Values v < bound are in range, as operand_kinds.def says.
uint64_t Bound(OperandKind kind, const Module& module,
               const RankProgram& program) {
  switch (kind) {
    case OperandKind::kNone:
      return 1;  // unused operands are 0
#define PP_OPERAND(Name, CppType, bytes, prefix, bound) \
  case OperandKind::k##Name:                            \
    return bound;
#include "runtime/bytecode/operand_kinds.def"
  }
  return 0;
}

std::string_view KindName(OperandKind kind) {
  switch (kind) {
    case OperandKind::kNone:
      return "unused operand";
#define PP_OPERAND(Name, ...) \
  case OperandKind::k##Name:  \
    return #Name;
#include "runtime/bytecode/operand_kinds.def"
  }
  return "?";
}

bool MayBeNoSlot(const OperandInfo& operand) {
  return operand.kind == OperandKind::kSlot &&
         (operand.name == kInOperand || operand.name == kOutOperand);
}

// Empty when `value` may stand in this operand, else what is wrong.
std::string OperandFault(const Module& module, const RankProgram& program,
                         const OperandInfo& operand, uint32_t value) {
  const bool no_slot =
      operand.kind == OperandKind::kSlot && value == kNoSlot.value;
  if (no_slot) {
    return MayBeNoSlot(operand) ? "" : "a slot is needed here, not `-`";
  }
  const uint64_t bound = Bound(operand.kind, module, program);
  if (value < bound) return "";
  if (operand.kind == OperandKind::kNone) {
    return fmt::format("an unused operand is {}, expected 0", value);
  }
  if (bound == 0) {
    return fmt::format("{} `{}` is {}{}, but there is none",
                       KindName(operand.kind), operand.name,
                       OperandPrefix(operand.kind), value);
  }
  return fmt::format("{} `{}` is {}, expected 0..{}", KindName(operand.kind),
                     operand.name, value, bound - 1);
}

// The bounds of all kinds for one rank: nearly all operands are in range, and
// one compare says so. kNoSlot is above every bound of a slot.
using Bounds = std::array<uint64_t, kOperandKinds>;

Bounds BoundsOf(const Module& module, const RankProgram& program) {
  Bounds bounds{};
  for (size_t kind = 0; kind < bounds.size(); ++kind) {
    bounds[kind] = Bound(static_cast<OperandKind>(kind), module, program);
  }
  return bounds;
}

Status CheckBounds(const Module& module, const Bounds& bounds, Rank rank,
                   size_t pc) {
  const RankProgram& program = module.programs[rank.value];
  const Instr& instr = program.code[pc];
  const OpInfo* info = FindOp(static_cast<uint8_t>(instr.op));
  if (info == nullptr) return InstrError(module, rank, pc, "no such opcode");
  for (size_t i = 0; i < kMaxOperands; ++i) {
    const auto kind = static_cast<size_t>(info->operands[i].kind);
    if (instr.operand[i] < bounds[kind]) continue;
    const std::string fault =
        OperandFault(module, program, info->operands[i], instr.operand[i]);
    if (!fault.empty()) return InstrError(module, rank, pc, fault);
  }
  return OkStatus();
}

Status CheckChunks(const Module& module, const RankProgram& program) {
  const uint64_t limit = uint64_t{1} << (8 * OperandBytes(OperandKind::kChunk));
  if (program.chunks.size() > limit) {
    return InputError(
        fmt::format("{} chunks, {} at most", program.chunks.size(), limit));
  }
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    const ChunkInfo& chunk = program.chunks[i];
    if (chunk.stage.value >= module.stages) {
      return InputError(fmt::format("chunk c{}: stage {} is out of range 0..{}",
                                    i, chunk.stage.value, module.stages - 1));
    }
    if (chunk.replica >= module.replicas) {
      return InputError(
          fmt::format("chunk c{}: replica {} is out of range 0..{}", i,
                      chunk.replica, module.replicas - 1));
    }
  }
  return OkStatus();
}

// An instruction fills one slot and one stash entry at most.
Status CheckFillable(std::string_view what, uint32_t declared,
                     const RankProgram& program) {
  if (declared <= program.code.size()) return OkStatus();
  return InputError(
      fmt::format("{} {} are declared, more than its {} instructions can fill",
                  declared, what, program.code.size()));
}

Status CheckDebug(const Module& module, const RankProgram& program) {
  if (program.debug.empty()) return OkStatus();
  if (program.debug.size() != program.code.size()) {
    return InputError(fmt::format("{} debug entries for {} instructions",
                                  program.debug.size(), program.code.size()));
  }
  for (size_t pc = 0; pc < program.debug.size(); ++pc) {
    const uint32_t site = program.debug[pc].site;
    if (site != kNoSite && site >= module.sites.size()) {
      return InputError(
          fmt::format("debug entry of pc {}: no site {}, there "
                      "are {}",
                      pc, site, module.sites.size()));
    }
  }
  return OkStatus();
}

Status CheckRankTables(const Module& module, const RankProgram& program) {
  PP_RETURN_IF_ERROR(CheckChunks(module, program));
  PP_RETURN_IF_ERROR(CheckFillable("slots", program.slots, program));
  PP_RETURN_IF_ERROR(CheckFillable("stashes", program.stashes, program));
  if (program.slots > kNoSlot.value) {
    return InputError(fmt::format("{} slots are declared, {} at most",
                                  program.slots, kNoSlot.value));
  }
  return CheckDebug(module, program);
}

}  // namespace

Status InstrError(const Module& module, Rank rank, size_t pc,
                  const std::string& cause) {
  const Instr& instr = module.programs[rank.value].code[pc];
  return InputError(fmt::format("rank {}, pc {} (`{}`): {}", rank.value, pc,
                                PrintInstr(instr), cause));
}

Status VerifyRank(const Module& module, Rank rank) {
  const RankProgram& program = module.programs[rank.value];
  PP_RETURN_IF_ERROR(CheckRankTables(module, program)
                         .WithContext(fmt::format("rank {}", rank.value)));
  const Bounds bounds = BoundsOf(module, program);
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    PP_RETURN_IF_ERROR(CheckBounds(module, bounds, rank, pc));
  }
  return VerifyStates(module, rank);
}

}  // namespace pp::bytecode::internal
