#include "runtime/vm/queued.h"

#include <fmt/format.h>

#include <algorithm>

namespace pp::vm {

using bytecode::Instr;
using bytecode::OpClass;
using bytecode::Opcode;

namespace {

// Whether the instruction can put work on the compute stream.
bool Queues(const Instr& instr) {
  switch (bytecode::Info(instr.op).op_class) {
    case OpClass::kCompute:
    case OpClass::kMeta:
      return true;
    case OpClass::kSync:
      return instr.op == Opcode::kWait;
    case OpClass::kComm:
      return false;
  }
  return false;
}

// Until the mark is passed. Looks up now and then for an error of the
// transport, which may be why the device stands still.
Status Await(Machine& machine, const device::Mark& mark) {
  constexpr std::chrono::microseconds kSlice{2000};
  const transport::Deadline deadline = machine.Deadline();
  while (true) {
    PP_ASSIGN_OR_RETURN(const bool passed,
                        machine.queue->driver().WaitFor(mark.event(), kSlice));
    if (passed) return OkStatus();
    PP_RETURN_IF_ERROR(machine.transport.Check());
    if (std::chrono::steady_clock::now() > deadline) {
      return RankError(fmt::format(
          "the GPU has not done it within {:.1f} s",
          std::chrono::duration<double>(machine.options.timeout).count()));
    }
  }
}

Status AccountSpan(Machine& machine, const QueuedSpan& span) {
  PP_ASSIGN_OR_RETURN(const int64_t begin_ns, span.begin.TimeNs());
  PP_ASSIGN_OR_RETURN(const int64_t end_ns, span.end.TimeNs());
  machine.now_ns = begin_ns;
  // Clocks of two devices may differ by some microseconds.
  Account(machine, machine.program.code[span.pc], std::max(begin_ns, end_ns));
  return OkStatus();
}

Status RecordQueuedTransfer(Machine& machine, const QueuedTransfer& transfer) {
  if (transfer.marks.started.empty()) return OkStatus();
  trace::Event event{trace::EventKind::kTransfer,
                     static_cast<uint32_t>(machine.step),
                     transfer.issue_pc,
                     transfer.lane.value,
                     INT64_MIN,
                     0};
  for (const device::Mark& mark : transfer.marks.started) {
    PP_ASSIGN_OR_RETURN(const int64_t ns, mark.TimeNs());
    event.begin_ns = std::max(event.begin_ns, ns);
  }
  event.end_ns = event.begin_ns;
  if (transfer.marks.ended) {
    PP_ASSIGN_OR_RETURN(const int64_t ns, transfer.marks.ended.TimeNs());
    event.end_ns = std::max(event.begin_ns, ns);
  }
  machine.options.trace->push_back(event);
  return OkStatus();
}

}  // namespace

Status MarkBegin(Machine& machine, const Instr& instr) {
  if (!machine.last_mark) {
    PP_ASSIGN_OR_RETURN(machine.last_mark, machine.queue->Record());
  }
  if (!Queues(instr)) return OkStatus();
  QueuedSpan span{machine.pc, machine.last_mark, {}};
  // Its own begin: where the host is late the rank was idle, not busy.
  if (instr.op != Opcode::kWait) {
    PP_ASSIGN_OR_RETURN(span.begin, machine.queue->Record());
  }
  machine.queued.push_back(std::move(span));
  return OkStatus();
}

Status MarkEnd(Machine& machine, const Instr& instr) {
  if (!Queues(instr)) return OkStatus();
  PP_ASSIGN_OR_RETURN(machine.last_mark, machine.queue->Record());
  machine.queued.back().end = machine.last_mark;
  return OkStatus();
}

Status Drain(Machine& machine) {
  for (const QueuedSpan& span : machine.queued) {
    machine.pc = span.pc;
    machine.position.since_ns.store(NowNs(), std::memory_order_relaxed);
    machine.position.pc.store(machine.pc, std::memory_order_release);
    PP_RETURN_IF_ERROR(Await(machine, span.end));
  }
  const uint64_t instructions = machine.result.instructions;
  for (const QueuedSpan& span : machine.queued) {
    machine.pc = span.pc;
    PP_RETURN_IF_ERROR(AccountSpan(machine, span));
  }
  machine.result.instructions = instructions;
  for (const QueuedTransfer& transfer : machine.queued_transfers) {
    PP_RETURN_IF_ERROR(RecordQueuedTransfer(machine, transfer));
  }
  machine.queued.clear();
  machine.queued_transfers.clear();
  machine.pc = static_cast<uint32_t>(machine.program.code.size());
  return OkStatus();
}

}  // namespace pp::vm
