// Rule: a SEND sends what it names, and a compute instruction reads the tensor
// of its own micro-batch from the neighbouring stage.
// Codes: WrongContent (3004) for a SEND, WrongInput (4007) for compute. One
// message for each rank, kind of instruction and chunk. Cost: linear.
//
//   forward c0 m1 %0 ...      // while %0 holds act s0 m0
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "compiler/analysis/slot_contents.h"
#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"

namespace pp::check {
namespace {

using analysis::Misfit;

struct Group {
  const Misfit* first = nullptr;
  size_t count = 0;
};

void Emit(const bytecode::Module& module, const Group& group,
          diag::Emitter& diag) {
  const Misfit& m = *group.first;
  const bool send = analysis::At(module, m.at).op == bytecode::Opcode::kSend;
  const std::string found =
      m.found ? fmt::format("`{}`", TensorText(*m.found)) : "nothing";
  const std::string text =
      send ? fmt::format("{} sends a slot that holds {}", NameAt(module, m.at),
                         found)
           : fmt::format("{} needs `{}`, its slot holds {}",
                         NameAt(module, m.at), TensorText(m.wanted), found);
  auto error =
      diag.Emit(send ? diag::Code::kWrongContent : diag::Code::kWrongInput,
                Where(module, m.at), text);
  if (m.found) {
    error.Note(Where(module, m.from), NameAt(module, m.from) + " put it there");
  }
  if (group.count > 1) {
    error.Note(
        {}, fmt::format("{} more on this rank are like it", group.count - 1));
  }
  error.Help("compare the slot numbers, stages and micro-batches of the two");
}

}  // namespace

bool ModuleContents(const ModuleContext& context, diag::Emitter& diag) {
  const bytecode::Module& module = context.module;
  const std::vector<Misfit> misfits = analysis::FindMisfits(module);
  std::map<std::tuple<Rank, bytecode::Opcode, uint32_t>, Group> groups;
  for (const Misfit& m : misfits) {
    const bytecode::Instr& instr = analysis::At(module, m.at);
    const bool send = instr.op == bytecode::Opcode::kSend;
    const uint32_t part =
        send ? 0 : bytecode::op::Forward::Of(instr).chunk.value;
    Group& group = groups[{m.at.rank, instr.op, part}];
    if (group.count++ == 0) group.first = &m;
  }
  for (const auto& [key, group] : groups) Emit(module, group, diag);
  return misfits.empty();
}

}  // namespace pp::check
