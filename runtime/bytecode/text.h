// The text form `.ppasm`: print and parse. Parse(Print(m)) == m.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode {

std::string Print(const Module& module);

// Errors as "FILE:LINE:COL: cause", with "did you mean" for mnemonics.
Result<Module> Parse(std::string_view text, const std::string& file);

// One instruction, as the dump and the trace show it:
// "forward c0 m3 %1 -> %2 $0" style, with operands named by their prefixes.
std::string PrintInstr(const Instr& instr);

// "one_f_one_b.sched:14:29 steady[3]", or "" where the compiler made it.
std::string PrintSite(const Module& module, Rank rank, Pc pc);

// Short name of what a compute or communication instruction works on, as
// traces show it: "F s0 m3", "B s0 m3", "I s2 m1", "W s2 m1",
// "SEND act s0 m3", "RECV grad s1 m3"; other opcodes: the mnemonic.
std::string EventName(const RankProgram& program, const Instr& instr);

}  // namespace pp::bytecode
