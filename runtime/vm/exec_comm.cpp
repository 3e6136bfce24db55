// Transfers are issued here; exec_sync.cpp completes them.
#include "runtime/vm/exec.h"

namespace pp::vm {

namespace op = bytecode::op;

namespace {

void InFlight(Machine& machine, Slot& slot, transport::RequestId request,
              LaneId lane, bool receives) {
  slot.request = request;
  slot.receives = receives;
  slot.lane = lane;
  slot.issue_pc = machine.pc;
  slot.issue_ns = machine.now_ns;
}

}  // namespace

Status Exec(Machine& machine, const op::Send& in) {
  Slot& slot = machine.slots[in.slot.value];
  PP_ASSIGN_OR_RETURN(
      const transport::RequestId request,
      machine.transport.Send(in.peer, in.lane, {in.payload, in.stage, in.mb},
                             slot.buffer));
  InFlight(machine, slot, request, in.lane, false);
  return OkStatus();
}

Status Exec(Machine& machine, const op::Recv& in) {
  Slot& slot = machine.slots[in.slot.value];
  if (!machine.zero_copy) {
    PP_ASSIGN_OR_RETURN(slot.buffer,
                        machine.engine.Allocate(in.payload, in.stage, in.mb));
  }
  PP_ASSIGN_OR_RETURN(
      const transport::RequestId request,
      machine.transport.Recv(in.peer, in.lane, {in.payload, in.stage, in.mb},
                             &slot.buffer));
  InFlight(machine, slot, request, in.lane, true);
  return OkStatus();
}

}  // namespace pp::vm
