// The decoded form of instructions: a generic one and typed views of it.
//
// Generic code (encoder, bounds check, printer) loops over the operands of an
// Instr as opcodes.def describes them. Code that means one opcode uses its
// typed view: `op::Forward::Of(instr).mb`, `op::Wait{slot}.Pack()`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/ids.h"

namespace pp::bytecode {

enum class Opcode : uint8_t {
#define PP_OP(Name, code, ...) k##Name = code,
#include "runtime/bytecode/opcodes.def"
};

enum class OpClass : uint8_t { kCompute, kComm, kSync, kMeta };

// What a message carries: a stage's output, or the gradient of its input.
enum class Payload : uint8_t { kAct = 0, kGrad = 1 };
inline constexpr uint32_t kPayloadCount = 2;
std::string_view PayloadName(Payload payload);  // "act", "grad"

// "No slot": the data on the first stage, the loss on the last.
inline constexpr SlotId kNoSlot{0xFFFF};
// The operands that may be kNoSlot go by these names in opcodes.def.
inline constexpr std::string_view kInOperand = "in";
inline constexpr std::string_view kOutOperand = "out";

enum class OperandKind : uint8_t {
  kNone,
#define PP_OPERAND(Name, ...) k##Name,
#include "runtime/bytecode/operand_kinds.def"
};

inline constexpr size_t kMaxOperands = 6;
// Encoded size of every instruction: opcode, operands in order, zero padding.
inline constexpr size_t kInstrBytes = 16;

struct Instr {
  Opcode op{};
  std::array<uint32_t, kMaxOperands> operand{};
  friend bool operator==(const Instr&, const Instr&) = default;
};

struct OperandInfo {
  OperandKind kind;
  std::string_view name;  // field name in opcodes.def
};

struct OpInfo {
  Opcode op;
  std::string_view name;      // "Forward"
  std::string_view mnemonic;  // "forward"
  OpClass op_class;
  std::array<OperandInfo, kMaxOperands> operands;
  size_t operand_count;
};

std::span<const OpInfo> AllOps();    // in the order of the table
const OpInfo* FindOp(uint8_t code);  // nullptr: no such opcode
const OpInfo& Info(Opcode op);       // op is one of the table
const OpInfo* FindOp(std::string_view mnemonic);

size_t OperandBytes(OperandKind kind);
std::string_view OperandPrefix(OperandKind kind);

namespace internal {
// C++ type of an operand kind, and its trip through uint32_t.
struct Unused {};
template <OperandKind K>
struct OperandTraits {
  using Type = Unused;
  static constexpr Type From(uint32_t) { return {}; }
  static constexpr uint32_t To(Type) { return 0; }
};
template <class T>
constexpr T FromWord(uint32_t v) {
  return T(v);
}
template <class T>
constexpr uint32_t ToWord(T v) {
  if constexpr (requires { v.value; }) {
    return v.value;
  } else {
    return static_cast<uint32_t>(v);
  }
}
#define PP_OPERAND(Name, CppType, ...)                                      \
  template <>                                                               \
  struct OperandTraits<OperandKind::k##Name> {                              \
    using Type = CppType;                                                   \
    static constexpr Type From(uint32_t v) { return FromWord<CppType>(v); } \
    static constexpr uint32_t To(Type v) { return ToWord<CppType>(v); }     \
  };
#include "runtime/bytecode/operand_kinds.def"
template <OperandKind K>
using OperandType = typename OperandTraits<K>::Type;
}  // namespace internal

// One struct per opcode with its operands as typed fields.
namespace op {
#define PP_FIELD_TYPE(K) \
  ::pp::bytecode::internal::OperandType<OperandKind::k##K>
#define PP_FIELD_FROM(K, i)                                         \
  ::pp::bytecode::internal::OperandTraits<OperandKind::k##K>::From( \
      in.operand[i])
#define PP_FIELD_TO(K, n) \
  ::pp::bytecode::internal::OperandTraits<OperandKind::k##K>::To(n)
#define PP_OP(Name, code, mnemonic, Class, K1, n1, K2, n2, K3, n3, K4, n4, K5, \
              n5, K6, n6)                                                      \
  struct Name {                                                                \
    PP_FIELD_TYPE(K1) n1{};                                                    \
    PP_FIELD_TYPE(K2) n2{};                                                    \
    PP_FIELD_TYPE(K3) n3{};                                                    \
    PP_FIELD_TYPE(K4) n4{};                                                    \
    PP_FIELD_TYPE(K5) n5{};                                                    \
    PP_FIELD_TYPE(K6) n6{};                                                    \
    static constexpr Opcode kOpcode = Opcode::k##Name;                         \
    static constexpr Name Of(const Instr& in) {                                \
      return {                                                                 \
          PP_FIELD_FROM(K1, 0), PP_FIELD_FROM(K2, 1), PP_FIELD_FROM(K3, 2),    \
          PP_FIELD_FROM(K4, 3), PP_FIELD_FROM(K5, 4), PP_FIELD_FROM(K6, 5)};   \
    }                                                                          \
    constexpr Instr Pack() const {                                             \
      return {                                                                 \
          kOpcode,                                                             \
          {PP_FIELD_TO(K1, n1), PP_FIELD_TO(K2, n2), PP_FIELD_TO(K3, n3),      \
           PP_FIELD_TO(K4, n4), PP_FIELD_TO(K5, n5), PP_FIELD_TO(K6, n6)}};    \
    }                                                                          \
  };
#include "runtime/bytecode/opcodes.def"
#undef PP_FIELD_TYPE
#undef PP_FIELD_FROM
#undef PP_FIELD_TO
}  // namespace op

}  // namespace pp::bytecode
