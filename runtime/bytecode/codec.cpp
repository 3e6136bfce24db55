// One instruction to its 16 bytes and back, by the operand table alone.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

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

// What one opcode's operands are in the 16 bytes: everything is known when
// this is compiled, so that an instruction costs a few shifts.
template <OperandKind... Kinds>
struct Layout {
  static constexpr std::array<size_t, kMaxOperands> kWidth = {
      WidthOf(Kinds)...};
  static constexpr size_t ShiftOf(size_t operand) {
    size_t bytes = 1;  // the opcode
    for (size_t i = 0; i < operand; ++i) bytes += kWidth[i];
    return 8 * bytes;
  }
  static constexpr uint64_t MaxOf(size_t operand) {
    return (uint64_t{1} << (8 * kWidth[operand])) - 1;
  }
  // Above the last operand, where all bits are zero.
  static constexpr size_t kEnd = ShiftOf(kMaxOperands);
  static_assert(kEnd <= 8 * kInstrBytes);

  static bool Fits(const Instr& instr) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return ((instr.operand[I] <= MaxOf(I)) && ...);
    }
    (std::make_index_sequence<kMaxOperands>());
  }
  static Word Pack(uint8_t code, const Instr& instr) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (Word{code} | ... | ShiftUp<I>(instr.operand[I]));
    }
    (std::make_index_sequence<kMaxOperands>());
  }
  static bool Unpack(Word word, Instr& instr) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((instr.operand[I] = ShiftDown<I>(word)), ...);
    }
    (std::make_index_sequence<kMaxOperands>());
    if constexpr (kEnd == 8 * kInstrBytes) return true;
    return word >> (kEnd % (8 * kInstrBytes)) == 0;
  }

 private:
  template <size_t I>
  static Word ShiftUp(uint32_t value) {
    if constexpr (kWidth[I] == 0) return 0;
    return Word{value} << (ShiftOf(I) % (8 * kInstrBytes));
  }
  template <size_t I>
  static uint32_t ShiftDown(Word word) {
    if constexpr (kWidth[I] == 0) return 0;
    return static_cast<uint32_t>(word >> (ShiftOf(I) % (8 * kInstrBytes))) &
           static_cast<uint32_t>(MaxOf(I));
  }
};

#define PP_OP(Name, code, mnemonic, Class, K1, n1, K2, n2, K3, n3, K4, n4, K5, \
              n5, K6, n6)                                                      \
  using Name##Layout =                                                         \
      Layout<OperandKind::k##K1, OperandKind::k##K2, OperandKind::k##K3,       \
             OperandKind::k##K4, OperandKind::k##K5, OperandKind::k##K6>;
#include "runtime/bytecode/opcodes.def"

void Store(Word word, std::byte* out) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out, &word, sizeof(word));
  } else {
    for (size_t i = 0; i < kInstrBytes; ++i) {
      out[i] = static_cast<std::byte>(word);
      word >>= 8;
    }
  }
}

Word Load(const std::byte* bytes) {
  Word word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, sizeof(word));
  } else {
    for (size_t i = kInstrBytes; i-- > 0;) {
      word = word << 8 | static_cast<uint8_t>(bytes[i]);
    }
  }
  return word;
}

// False: EncodeFault says why.
bool EncodeOne(const Instr& instr, std::byte* out) {
  switch (instr.op) {
#define PP_OP(Name, code, ...)                    \
  case Opcode::k##Name:                           \
    if (!Name##Layout::Fits(instr)) return false; \
    Store(Name##Layout::Pack(code, instr), out);  \
    return true;
#include "runtime/bytecode/opcodes.def"
  }
  return false;
}

// False: DecodeFault says why.
bool DecodeOne(const std::byte* bytes, Instr& instr) {
  const Word word = Load(bytes);
  instr.op = static_cast<Opcode>(bytes[0]);
  switch (instr.op) {
#define PP_OP(Name, ...) \
  case Opcode::k##Name:  \
    return Name##Layout::Unpack(word, instr);
#include "runtime/bytecode/opcodes.def"
  }
  return false;
}

Status EncodeFault(const Instr& instr) {
  const auto code = static_cast<uint8_t>(instr.op);
  const OpInfo* info = FindOp(code);
  if (info == nullptr)
    return InputError(fmt::format("no opcode {:#04x}", code));
  for (size_t i = 0; i < kMaxOperands; ++i) {
    const size_t bytes = OperandBytes(info->operands[i].kind);
    if (instr.operand[i] < uint64_t{1} << (8 * bytes)) continue;
    return InputError(fmt::format(
        "`{}`: operand `{}` is {}, its field has {} bytes", PrintInstr(instr),
        info->operands[i].name, instr.operand[i], bytes));
  }
  return OkStatus();
}

// `instr` is what could be decoded.
Status DecodeFault(const Instr& instr) {
  const auto code = static_cast<uint8_t>(instr.op);
  if (FindOp(code) == nullptr) {
    return InputError(fmt::format("no such opcode {:#04x}", code));
  }
  return InputError(
      fmt::format("`{}`: padding is not zero", PrintInstr(instr)));
}

}  // namespace

Status Encode(std::span<const Instr> code, std::span<std::byte> out) {
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (!EncodeOne(code[pc], out.data() + pc * kInstrBytes)) {
      return EncodeFault(code[pc]).WithContext(fmt::format("pc {}", pc));
    }
  }
  return OkStatus();
}

Status Decode(std::span<const std::byte> bytes, std::span<Instr> code) {
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (!DecodeOne(bytes.data() + pc * kInstrBytes, code[pc])) {
      return DecodeFault(code[pc]).WithContext(fmt::format("pc {}", pc));
    }
  }
  return OkStatus();
}

std::string SectionName(uint32_t index) {
  constexpr std::array<const char*, kFixedSections> kNames = {"module", "facts",
                                                              "sites"};
  if (index < kFixedSections) return kNames[index];
  return fmt::format("rank {}", index - kFixedSections);
}

}  // namespace pp::bytecode::format
