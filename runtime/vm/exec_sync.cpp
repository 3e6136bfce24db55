// Completion of transfers, and what bounds them.
#include "runtime/vm/exec.h"

namespace pp::vm {

namespace op = bytecode::op;

namespace {

// The span of the transfer itself, on its lane's track. Where the transport
// cannot tell when the peer came, it includes waiting for the peer.
void RecordTransfer(Machine& machine, const Slot& slot) {
  if (machine.options.trace == nullptr) return;
  if (machine.queue != nullptr) {
    machine.queued_transfers.push_back(
        {slot.issue_pc, slot.lane, machine.transport.LastTransferMarks()});
    return;
  }
  trace::Event event{trace::EventKind::kTransfer,
                     static_cast<uint32_t>(machine.step),
                     slot.issue_pc,
                     slot.lane.value,
                     slot.issue_ns,
                     NowNs()};
  if (const auto times = machine.transport.LastTransfer()) {
    event.begin_ns = times->started_ns;
    event.end_ns = times->ended_ns;
  }
  machine.options.trace->push_back(event);
}

}  // namespace

Status Exec(Machine& machine, const op::Wait& in) {
  Slot& slot = machine.slots[in.slot.value];
  PP_RETURN_IF_ERROR(machine.transport.Wait(*slot.request, machine.Deadline()));
  slot.request.reset();
  RecordTransfer(machine, slot);
  if (slot.receives && machine.zero_copy) machine.engine.Adopt(slot.buffer);
  return OkStatus();
}

Status Exec(Machine& machine, const op::Free& in) {
  machine.slots[in.slot.value].buffer = Buffer{};
  return OkStatus();
}

Status Exec(Machine& machine, const op::GroupBegin&) {
  return machine.transport.GroupBegin();
}

Status Exec(Machine& machine, const op::GroupEnd&) {
  return machine.transport.GroupEnd();
}

}  // namespace pp::vm
