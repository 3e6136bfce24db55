// Instructions that only queue work: marks around them while the step is
// queued, times from the marks once it has run. Internal to this folder.
#pragma once

#include "runtime/vm/state.h"

namespace pp::vm {

// Before and after an instruction is executed.
Status MarkBegin(Machine& machine, const bytecode::Instr& instr);
Status MarkEnd(Machine& machine, const bytecode::Instr& instr);

// Waits until the device has run the step, as the machine's position tells, and
// accounts for it. kRankFailed when the device stands still for the timeout;
// the transport's error if that comes first.
Status Drain(Machine& machine);

// Accounts for the current instruction, which ran from now_ns to end_ns.
void Account(Machine& machine, const bytecode::Instr& instr, int64_t end_ns);

}  // namespace pp::vm
