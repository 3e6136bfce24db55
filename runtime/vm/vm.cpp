#include "runtime/vm/vm.h"

#include <fmt/format.h>

#include "runtime/bytecode/text.h"
#include "runtime/vm/exec.h"
#include "runtime/vm/queued.h"

namespace pp::vm {

using bytecode::Instr;
using bytecode::OpClass;
using bytecode::Opcode;

struct Vm::State {
  Machine machine;
  State(const bytecode::Module& module, Rank rank, engine::Engine& engine,
        transport::Transport& transport, const VmOptions& options)
      : machine{.module = module,
                .program = module.programs[rank.value],
                .rank = rank,
                .engine = engine,
                .transport = transport,
                .options = options,
                .zero_copy = transport.traits().zero_copy,
                .slots = std::vector<Slot>(module.programs[rank.value].slots),
                .queue = engine.queue()} {}
};

namespace {

Status Dispatch(Machine& machine, const Instr& instr) {
  switch (instr.op) {
#define PP_OP(Name, ...) \
  case Opcode::k##Name:  \
    return Exec(machine, bytecode::op::Name::Of(instr));
#include "runtime/bytecode/opcodes.def"
  }
  return RankError("no such opcode");
}

// The class of an opcode as a table lookup without a call.
constexpr OpClass ClassOf(Opcode op) {
  switch (op) {
#define PP_OP(Name, code, mnemonic, Class, ...) \
  case Opcode::k##Name:                         \
    return OpClass::k##Class;
#include "runtime/bytecode/opcodes.def"
  }
  return OpClass::kMeta;
}

std::string Where(const Machine& machine) {
  const std::string site =
      PrintSite(machine.module, machine.rank, Pc(machine.pc));
  return fmt::format("rank {}, step {}, pc {} (`{}`){}{}", machine.rank.value,
                     machine.step, machine.pc,
                     PrintInstr(machine.program.code[machine.pc]),
                     site.empty() ? "" : " at ", site);
}

enum class Stage : uint8_t { kBegin, kCode, kEnd };

// Gives the failure its place and tells the other ranks, unless it is their
// failure that came here.
Status Failed(Machine& machine, const Status& cause, Stage stage) {
  const std::string where =
      stage == Stage::kCode
          ? Where(machine)
          : fmt::format("rank {}, {} of step {}", machine.rank.value,
                        stage == Stage::kBegin ? "begin" : "end", machine.step);
  const bool own = cause.code() != StatusCode::kAborted;
  const Status status(own ? StatusCode::kRankFailed : StatusCode::kAborted,
                      where + ": " + cause.message());
  if (own) machine.transport.Abort(status);
  return status;
}

// What the instructions queue has not run when they return.
Status QueueCode(Machine& machine) {
  machine.last_mark = {};
  machine.queued.clear();
  machine.queued_transfers.clear();
  const std::vector<Instr>& code = machine.program.code;
  const Fault& fault = machine.options.fault;
  for (machine.pc = 0; machine.pc < code.size(); ++machine.pc) {
    machine.position.since_ns.store(NowNs(), std::memory_order_relaxed);
    machine.position.pc.store(machine.pc, std::memory_order_release);
    PP_RETURN_IF_ERROR(MarkBegin(machine, code[machine.pc]));
    if (machine.pc == fault.pc && machine.step == fault.step) {
      PP_RETURN_IF_ERROR(fault.act());
    }
    PP_RETURN_IF_ERROR(Dispatch(machine, code[machine.pc]));
    PP_RETURN_IF_ERROR(MarkEnd(machine, code[machine.pc]));
    ++machine.result.instructions;
  }
  PP_RETURN_IF_ERROR(Drain(machine));
  machine.position.since_ns.store(NowNs(), std::memory_order_relaxed);
  machine.position.pc.store(machine.pc, std::memory_order_release);
  return OkStatus();
}

Status RunCode(Machine& machine) {
  if (machine.queue != nullptr) return QueueCode(machine);
  const std::vector<Instr>& code = machine.program.code;
  const Fault& fault = machine.options.fault;
  for (machine.pc = 0; machine.pc < code.size(); ++machine.pc) {
    // One clock reading an instruction: the end of one is the begin of the
    // next, so that the spans of a rank leave no gaps.
    machine.position.since_ns.store(machine.now_ns, std::memory_order_relaxed);
    machine.position.pc.store(machine.pc, std::memory_order_release);
    if (machine.pc == fault.pc && machine.step == fault.step) {
      PP_RETURN_IF_ERROR(fault.act());
    }
    PP_RETURN_IF_ERROR(Dispatch(machine, code[machine.pc]));
    const int64_t end_ns = NowNs();
    Account(machine, code[machine.pc], end_ns);
    machine.now_ns = end_ns;
  }
  machine.position.since_ns.store(machine.now_ns, std::memory_order_relaxed);
  machine.position.pc.store(machine.pc, std::memory_order_release);
  return OkStatus();
}

}  // namespace

void Account(Machine& machine, const Instr& instr, int64_t end_ns) {
  StepResult& result = machine.result;
  ++result.instructions;
  switch (ClassOf(instr.op)) {
    case OpClass::kCompute:
      if (result.begin_ns == 0) result.begin_ns = machine.now_ns;
      result.end_ns = end_ns;
      result.busy_ns += end_ns - machine.now_ns;
      machine.Record(trace::EventKind::kCompute, machine.now_ns, end_ns);
      break;
    case OpClass::kMeta:
      machine.Record(trace::EventKind::kMeta, machine.now_ns, end_ns);
      break;
    case OpClass::kSync:
      if (instr.op == Opcode::kWait) {
        machine.Record(trace::EventKind::kWait, machine.now_ns, end_ns);
      }
      break;
    case OpClass::kComm:
      break;
  }
}

Vm::Vm(const bytecode::Module& module, Rank rank, engine::Engine& engine,
       transport::Transport& transport, VmOptions options)
    : state_(
          std::make_unique<State>(module, rank, engine, transport, options)) {}

Vm::~Vm() = default;

Result<StepResult> Vm::RunStep(uint64_t step) {
  Machine& machine = state_->machine;
  machine.step = step;
  machine.held = 0;
  machine.pc = 0;
  machine.result = StepResult{};
  machine.position.since_ns.store(NowNs(), std::memory_order_relaxed);
  machine.position.pc.store(0, std::memory_order_relaxed);
  machine.position.step.store(step, std::memory_order_release);
  if (Status begun = machine.engine.BeginStep(step); !begun.ok()) {
    return Fail(Failed(machine, begun, Stage::kBegin));
  }
  machine.now_ns = NowNs();
  if (Status ran = RunCode(machine); !ran.ok()) {
    return Fail(Failed(machine, ran, Stage::kCode));
  }
  if (Status ended = machine.engine.EndStep(); !ended.ok()) {
    return Fail(Failed(machine, ended, Stage::kEnd));
  }
  return machine.result;
}

const Position& Vm::position() const { return state_->machine.position; }

}  // namespace pp::vm
