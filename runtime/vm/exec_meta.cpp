// Once per step and chunk: scale, reduce, update.
#include "runtime/vm/exec.h"

namespace pp::vm {

namespace op = bytecode::op;

Status Exec(Machine& machine, const op::Scale& in) {
  return machine.engine.Scale(in.chunk);
}

Status Exec(Machine& machine, const op::Reduce& in) {
  const bytecode::Group& group = machine.module.groups[in.group.value];
  PP_ASSIGN_OR_RETURN(std::vector<Buffer> views,
                      machine.engine.Reducible(group));
  for (Buffer& view : views) {
    PP_RETURN_IF_ERROR(
        machine.transport.AllReduceSum(group.ranks, view, machine.Deadline()));
  }
  return OkStatus();
}

Status Exec(Machine& machine, const op::Update& in) {
  return machine.engine.Update(in.chunk);
}

}  // namespace pp::vm
