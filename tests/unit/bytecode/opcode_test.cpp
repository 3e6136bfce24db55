#include <gtest/gtest.h>

#include <set>

#include "runtime/bytecode/instr.h"

namespace pp::bytecode {
namespace {

TEST(Opcode, EveryRowIsFoundByCodeAndByMnemonic) {
  for (const OpInfo& info : AllOps()) {
    EXPECT_EQ(FindOp(static_cast<uint8_t>(info.op)), &info) << info.name;
    EXPECT_EQ(FindOp(info.mnemonic), &info) << info.name;
    EXPECT_EQ(&Info(info.op), &info) << info.name;
  }
}

TEST(Opcode, AllOtherCodesAreUnknown) {
  std::set<int> known;
  for (const OpInfo& info : AllOps()) known.insert(static_cast<int>(info.op));
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(FindOp(static_cast<uint8_t>(code)) != nullptr,
              known.contains(code))
        << code;
  }
  EXPECT_EQ(FindOp("forwrd"), nullptr);
}

TEST(Opcode, DescribesOperandsInOrder) {
  const OpInfo& send = Info(Opcode::kSend);
  EXPECT_EQ(send.op_class, OpClass::kComm);
  ASSERT_EQ(send.operand_count, 6u);
  EXPECT_EQ(send.operands[0].name, "peer");
  EXPECT_EQ(send.operands[3].kind, OperandKind::kPayload);
  EXPECT_EQ(Info(Opcode::kGroupBegin).operand_count, 0u);
  EXPECT_EQ(OperandBytes(OperandKind::kNone), 0u);
  EXPECT_EQ(OperandBytes(OperandKind::kMicroBatch), 4u);
  EXPECT_EQ(OperandPrefix(OperandKind::kSlot), "%");
}

TEST(Opcode, TypedViewsPackAndUnpack) {
  const op::Send send{Rank{3},        LaneId{1},  SlotId{7},
                      Payload::kGrad, StageId{2}, MicroBatch{9}};
  const Instr instr = send.Pack();
  EXPECT_EQ(instr, (Instr{Opcode::kSend, {3, 1, 7, 1, 2, 9}}));
  const op::Send back = op::Send::Of(instr);
  EXPECT_EQ(back.mb, MicroBatch{9});
  EXPECT_EQ(back.payload, Payload::kGrad);
}

}  // namespace
}  // namespace pp::bytecode
