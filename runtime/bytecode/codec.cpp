// One instruction to its 16 bytes and back, by the operand table alone.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "runtime/bytecode/format.h"
#include "runtime/bytecode/text.h"

namespace pp::bytecode::format {
namespace {

// The 16 bytes as one number, the first byte lowest: an operand is a shift.
__extension__ using Word = unsigned __int128;
static_assert(sizeof(Word) == kInstrBytes);

constexpr size_t WidthOf(OperandKind kind) {
  switch (kind) {
    case OperandKind::kNone:
      return 0;
#define PP_OPERAND(Name, CppType, bytes, ...) \
  case OperandKind::k##Name:                  \
    return bytes;
#include "runtime/bytecode/operand_kinds.def"
  }
  return 0;
}

// Widths in bytes of all operands, by opcode; `known`: there is such a one.
struct Layout {
  bool known = false;
  std::array<uint8_t, kMaxOperands> bytes{};
};

constexpr Layout MakeLayout(
    const std::array<OperandKind, kMaxOperands>& kinds) {
  Layout layout{true, {}};
  for (size_t i = 0; i < kMaxOperands; ++i) {
    layout.bytes[i] = static_cast<uint8_t>(WidthOf(kinds[i]));
  }
  return layout;
}

constexpr std::array<Layout, 256> kLayouts = [] {
  std::array<Layout, 256> layouts{};
#define PP_OP(Name, code, mnemonic, Class, K1, n1, K2, n2, K3, n3, K4, n4, K5, \
              n5, K6, n6)                                                      \
  layouts[code] = MakeLayout({OperandKind::k##K1, OperandKind::k##K2,          \
                              OperandKind::k##K3, OperandKind::k##K4,          \
                              OperandKind::k##K5, OperandKind::k##K6});
#include "runtime/bytecode/opcodes.def"
  return layouts;
}();

constexpr uint64_t MaxOf(size_t bytes) {
  return (uint64_t{1} << (8 * bytes)) - 1;
}

InstrBytes ToBytes(Word word) {
  InstrBytes out;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out.data(), &word, sizeof(word));
  } else {
    for (std::byte& byte : out) {
      byte = static_cast<std::byte>(word);
      word >>= 8;
    }
  }
  return out;
}

Word ToWord(std::span<const std::byte, kInstrBytes> bytes) {
  Word word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes.data(), sizeof(word));
  } else {
    for (size_t i = kInstrBytes; i-- > 0;) {
      word = word << 8 | static_cast<uint8_t>(bytes[i]);
    }
  }
  return word;
}

Status DoesNotFit(const Instr& instr, size_t operand) {
  const OperandInfo& info = Info(instr.op).operands[operand];
  return InputError(fmt::format(
      "`{}`: operand `{}` is {}, its field has {} bytes", PrintInstr(instr),
      info.name, instr.operand[operand], OperandBytes(info.kind)));
}

}  // namespace

Result<InstrBytes> Encode(const Instr& instr) {
  const auto code = static_cast<uint8_t>(instr.op);
  const Layout& layout = kLayouts[code];
  if (!layout.known) {
    return Fail(InputError(fmt::format("no opcode {:#04x}", code)));
  }
  Word word = code;
  size_t shift = 8;
  for (size_t i = 0; i < kMaxOperands; ++i) {
    const uint32_t value = instr.operand[i];
    if (value > MaxOf(layout.bytes[i])) return Fail(DoesNotFit(instr, i));
    word |= static_cast<Word>(value) << shift;
    shift += size_t{8} * layout.bytes[i];
  }
  return ToBytes(word);
}

Result<Instr> Decode(std::span<const std::byte, kInstrBytes> bytes) {
  const auto code = static_cast<uint8_t>(bytes[0]);
  const Layout& layout = kLayouts[code];
  if (!layout.known) {
    return Fail(InputError(fmt::format("no such opcode {:#04x}", code)));
  }
  Instr instr{static_cast<Opcode>(code), {}};
  Word rest = ToWord(bytes) >> 8;
  for (size_t i = 0; i < kMaxOperands; ++i) {
    instr.operand[i] = static_cast<uint32_t>(rest & MaxOf(layout.bytes[i]));
    rest >>= size_t{8} * layout.bytes[i];
  }
  if (rest != 0) {
    return Fail(InputError(
        fmt::format("`{}`: padding is not zero", PrintInstr(instr))));
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
