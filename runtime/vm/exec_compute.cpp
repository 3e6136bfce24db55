// Forward and backward operations: the engine works, the rank is busy.
#include <algorithm>

#include "runtime/vm/exec.h"

namespace pp::vm {

namespace op = bytecode::op;

Status Exec(Machine& machine, const op::Forward& in) {
  // Counted before it runs: the activations come to life while it does.
  machine.result.peak_activations =
      std::max(machine.result.peak_activations, ++machine.held);
  return machine.engine.Forward(
      {in.chunk, in.mb, in.stash, machine.At(in.in), machine.At(in.out)});
}

Status Exec(Machine& machine, const op::Backward& in) {
  PP_RETURN_IF_ERROR(machine.engine.Backward(
      {in.chunk, in.mb, in.stash, machine.At(in.in), machine.At(in.out)}));
  --machine.held;
  return OkStatus();
}

Status Exec(Machine& machine, const op::BackwardInput& in) {
  return machine.engine.BackwardInput(
      {in.chunk, in.mb, in.stash, machine.At(in.in), machine.At(in.out)});
}

Status Exec(Machine& machine, const op::BackwardWeight& in) {
  PP_RETURN_IF_ERROR(machine.engine.BackwardWeight(
      {in.chunk, in.mb, in.stash, nullptr, nullptr}));
  --machine.held;
  return OkStatus();
}

}  // namespace pp::vm
