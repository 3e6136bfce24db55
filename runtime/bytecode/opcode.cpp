// The tables behind instr.h, derived from the two .def files.
#include <algorithm>
#include <array>

#include "runtime/bytecode/instr.h"

namespace pp::bytecode {
namespace {

struct KindRow {
  OperandKind kind;
  size_t bytes;
  std::string_view prefix;
};

constexpr KindRow kKinds[] = {
    {OperandKind::kNone, 0, ""},
#define PP_OPERAND(Name, CppType, bytes, prefix, bound) \
  {OperandKind::k##Name, bytes, prefix},
#include "runtime/bytecode/operand_kinds.def"
};

constexpr size_t CountUsed(
    const std::array<OperandInfo, kMaxOperands>& operands) {
  size_t used = 0;
  while (used < kMaxOperands && operands[used].kind != OperandKind::kNone) {
    ++used;
  }
  return used;
}

constexpr OpInfo MakeRow(
    Opcode op, std::string_view name, std::string_view mnemonic, OpClass klass,
    const std::array<OperandInfo, kMaxOperands>& operands) {
  return {op, name, mnemonic, klass, operands, CountUsed(operands)};
}

constexpr OpInfo kOps[] = {
#define PP_OP(Name, code, mnemonic, Class, K1, n1, K2, n2, K3, n3, K4, n4, K5, \
              n5, K6, n6)                                                      \
  MakeRow(Opcode::k##Name, #Name, mnemonic, OpClass::k##Class,                 \
          {{{OperandKind::k##K1, #n1},                                         \
            {OperandKind::k##K2, #n2},                                         \
            {OperandKind::k##K3, #n3},                                         \
            {OperandKind::k##K4, #n4},                                         \
            {OperandKind::k##K5, #n5},                                         \
            {OperandKind::k##K6, #n6}}}),
#include "runtime/bytecode/opcodes.def"
};

// Position in kOps by code; 0xFF where there is no such opcode.
constexpr uint8_t kNoRow = 0xFF;
constexpr std::array<uint8_t, 256> kRowOfCode = [] {
  std::array<uint8_t, 256> rows{};
  rows.fill(kNoRow);
  for (size_t i = 0; i < std::size(kOps); ++i) {
    rows[static_cast<uint8_t>(kOps[i].op)] = static_cast<uint8_t>(i);
  }
  return rows;
}();

// ---- What the tables promise to everybody who loops over them ----

constexpr bool KindsInOrder() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}

constexpr bool OperandsFit(const OpInfo& info) {
  size_t bytes = 1;  // the opcode
  for (const OperandInfo& operand : info.operands) {
    bytes += kKinds[static_cast<size_t>(operand.kind)].bytes;
  }
  return bytes <= kInstrBytes;
}

constexpr bool NoGapBetweenOperands(const OpInfo& info) {
  for (size_t i = info.operand_count; i < kMaxOperands; ++i) {
    if (info.operands[i].kind != OperandKind::kNone) return false;
  }
  return true;
}

constexpr bool CodesAndMnemonicsUnique() {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kOps[i].op == kOps[j].op) return false;
      if (kOps[i].mnemonic == kOps[j].mnemonic) return false;
    }
  }
  return true;
}

static_assert(std::size(kOps) < kNoRow);
static_assert(KindsInOrder());
static_assert(CodesAndMnemonicsUnique());
static_assert(std::ranges::all_of(kOps, OperandsFit),
              "an opcode's operands do not fit kInstrBytes");
static_assert(std::ranges::all_of(kOps, NoGapBetweenOperands),
              "operands come first, None last");
// Code 0 stays free, so that zeroed bytes are not a program.
static_assert(kRowOfCode[0] == kNoRow);

}  // namespace

std::string_view PayloadName(Payload payload) {
  switch (payload) {
    case Payload::kAct:
      return "act";
    case Payload::kGrad:
      return "grad";
  }
  return "?";
}

std::span<const OpInfo> AllOps() { return kOps; }

const OpInfo* FindOp(uint8_t code) {
  const uint8_t row = kRowOfCode[code];
  return row == kNoRow ? nullptr : &kOps[row];
}

const OpInfo& Info(Opcode op) {
  return kOps[kRowOfCode[static_cast<uint8_t>(op)]];
}

const OpInfo* FindOp(std::string_view mnemonic) {
  const auto* it = std::ranges::find(kOps, mnemonic, &OpInfo::mnemonic);
  return it == std::end(kOps) ? nullptr : it;
}

size_t OperandBytes(OperandKind kind) {
  return kKinds[static_cast<size_t>(kind)].bytes;
}

std::string_view OperandPrefix(OperandKind kind) {
  return kKinds[static_cast<size_t>(kind)].prefix;
}

}  // namespace pp::bytecode
