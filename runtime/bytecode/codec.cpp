// One instruction to its 16 bytes and back, by the operand table alone.
#include <fmt/format.h>

#include "runtime/bytecode/format.h"
#include "runtime/bytecode/text.h"

namespace pp::bytecode::format {
namespace {

bool FitsBytes(uint32_t value, size_t bytes) {
  return bytes >= sizeof(value) || value < (uint64_t{1} << (8 * bytes));
}

}  // namespace

Result<InstrBytes> Encode(const Instr& instr) {
  InstrBytes out{};
  const OpInfo* info = FindOp(static_cast<uint8_t>(instr.op));
  if (info == nullptr) {
    return Fail(InputError(
        fmt::format("no opcode {:#04x}", static_cast<uint8_t>(instr.op))));
  }
  out[0] = static_cast<std::byte>(instr.op);
  size_t at = 1;
  for (size_t i = 0; i < kMaxOperands; ++i) {
    const uint32_t value = instr.operand[i];
    const size_t bytes = OperandBytes(info->operands[i].kind);
    if (!FitsBytes(value, bytes)) {
      return Fail(InputError(fmt::format(
          "`{}`: operand `{}` is {}, its field has {} bytes", PrintInstr(instr),
          info->operands[i].name, value, bytes)));
    }
    for (size_t b = 0; b < bytes; ++b) {
      out[at++] = static_cast<std::byte>(value >> (8 * b));
    }
  }
  return out;
}

Result<Instr> Decode(std::span<const std::byte, kInstrBytes> bytes) {
  const auto code = static_cast<uint8_t>(bytes[0]);
  const OpInfo* info = FindOp(code);
  if (info == nullptr) {
    return Fail(InputError(fmt::format("no such opcode {:#04x}", code)));
  }
  Instr instr{info->op, {}};
  size_t at = 1;
  for (size_t i = 0; i < info->operand_count; ++i) {
    const size_t size = OperandBytes(info->operands[i].kind);
    for (size_t b = 0; b < size; ++b) {
      instr.operand[i] |= static_cast<uint32_t>(bytes[at++]) << (8 * b);
    }
  }
  for (; at < kInstrBytes; ++at) {
    if (bytes[at] != std::byte{0}) {
      return Fail(InputError(
          fmt::format("`{}`: padding is not zero", PrintInstr(instr))));
    }
  }
  return instr;
}

std::string SectionName(uint32_t index) {
  constexpr std::array<const char*, kFixedSections> kNames = {"module", "facts",
                                                              "sites"};
  if (index < kFixedSections) return kNames[index];
  return fmt::format("rank {}", index - kFixedSections);
}

}  // namespace pp::bytecode::format
