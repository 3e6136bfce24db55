// One handler per opcode. They are declared by hand: an opcode without one
// does not compile where vm.cpp dispatches from the table.
//
// Every handler may count on what the verifier promises about operands, slots
// and stashes.
#pragma once

#include "runtime/bytecode/instr.h"
#include "runtime/vm/state.h"

namespace pp::vm {

Status Exec(Machine& machine, const bytecode::op::Forward& in);
Status Exec(Machine& machine, const bytecode::op::Backward& in);
Status Exec(Machine& machine, const bytecode::op::BackwardInput& in);
Status Exec(Machine& machine, const bytecode::op::BackwardWeight& in);

Status Exec(Machine& machine, const bytecode::op::Send& in);
Status Exec(Machine& machine, const bytecode::op::Recv& in);

Status Exec(Machine& machine, const bytecode::op::Wait& in);
Status Exec(Machine& machine, const bytecode::op::Free& in);
Status Exec(Machine& machine, const bytecode::op::GroupBegin& in);
Status Exec(Machine& machine, const bytecode::op::GroupEnd& in);

Status Exec(Machine& machine, const bytecode::op::Scale& in);
Status Exec(Machine& machine, const bytecode::op::Reduce& in);
Status Exec(Machine& machine, const bytecode::op::Update& in);

}  // namespace pp::vm
