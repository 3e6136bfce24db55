#include "compiler/check/module_where.h"

#include <fmt/format.h>

#include "runtime/bytecode/text.h"

namespace pp::check {

using bytecode::OpClass;

diag::Location Where(const bytecode::Module& module, InstrRef ref) {
  diag::Location where;
  const auto& debug = module.programs[ref.rank.value].debug;
  if (ref.pc.value >= debug.size()) return where;
  const uint32_t site = debug[ref.pc.value].site;
  if (site >= module.sites.size()) return where;
  where.file = module.sites[site].file;
  where.line = module.sites[site].line;
  where.column = module.sites[site].column;
  return where;
}

std::string Name(const bytecode::Module& module, InstrRef ref) {
  const bytecode::Instr& instr = analysis::At(module, ref);
  switch (bytecode::Info(instr.op).op_class) {
    case OpClass::kCompute:
      return fmt::format(
          "`{}`", bytecode::EventName(module.programs[ref.rank.value], instr));
    case OpClass::kComm:
      return fmt::format(
          "`{}` {} rank {}",
          bytecode::EventName(module.programs[ref.rank.value], instr),
          instr.op == bytecode::Opcode::kSend ? "to" : "from",
          bytecode::op::Send::Of(instr).peer.value);
    case OpClass::kSync:
    case OpClass::kMeta:
      return fmt::format("`{}`", bytecode::PrintInstr(instr));
  }
  return {};
}

std::string NameAt(const bytecode::Module& module, InstrRef ref) {
  return fmt::format("{} (rank {}, pc {})", Name(module, ref), ref.rank.value,
                     ref.pc.value);
}

std::string TensorText(const analysis::Tensor& t) {
  return fmt::format("{} s{} m{}", bytecode::PayloadName(t.payload),
                     t.stage.value, t.mb.value);
}

}  // namespace pp::check
