// Rule: every member of a group runs REDUCE on it equally often. (That they
// meet in one order is the deadlock check's question.)
// Codes: CollectiveNotReached (3005). Cost: linear.
//
//   rank 0: reduce g0        rank 1: -      // g0 = r0 r1: rank 0 hangs
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"
#include "compiler/check/sets.h"

namespace pp::check {
namespace {

using bytecode::Module;
using bytecode::Opcode;

// How often each member of a group reduces, in the order of Group::ranks.
using Counts = std::vector<uint32_t>;

std::vector<Counts> CountReduces(const Module& module) {
  std::vector<Counts> counts;
  // By rank: where it stands in which group.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> seats(module.ranks());
  for (uint32_t g = 0; g < module.groups.size(); ++g) {
    const auto& ranks = module.groups[g].ranks;
    counts.emplace_back(ranks.size(), 0);
    for (uint32_t i = 0; i < ranks.size(); ++i) {
      seats[ranks[i].value].push_back({g, i});  // ascending by group
    }
  }
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    for (const bytecode::Instr& instr : module.programs[r].code) {
      if (instr.op != Opcode::kReduce) continue;
      const uint32_t g = bytecode::op::Reduce::Of(instr).group.value;
      const auto seat = std::ranges::lower_bound(
          seats[r], std::pair<uint32_t, uint32_t>(g, 0));
      ++counts[g][seat->second];
    }
  }
  return counts;
}

InstrRef LastReduce(const Module& module, Rank rank, uint32_t group) {
  const auto& code = module.programs[rank.value].code;
  InstrRef last{rank, Pc(0)};
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].op == Opcode::kReduce &&
        bytecode::op::Reduce::Of(code[pc]).group.value == group) {
      last.pc = Pc(pc);
    }
  }
  return last;
}

void Emit(const Module& module, uint32_t group, const Counts& counts,
          diag::Emitter& diag) {
  const auto& ranks = module.groups[group].ranks;
  const auto most = std::ranges::max_element(counts);
  std::vector<uint32_t> lacking;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < *most) lacking.push_back(ranks[i].value);
  }
  std::ranges::sort(lacking);
  const InstrRef last =
      LastReduce(module, ranks[size_t(most - counts.begin())], group);
  auto error =
      diag.Emit(diag::Code::kCollectiveNotReached, Where(module, last),
                fmt::format("{} waits for {} for ever: {} run{} it less often",
                            NameAt(module, last), RankSet(lacking),
                            lacking.size() == 1 ? "that rank" : "those ranks",
                            lacking.size() == 1 ? "s" : ""));
  error.Help(
      fmt::format("each rank of g{} has to run `reduce g{}` the same "
                  "number of times",
                  group, group));
}

}  // namespace

bool ModuleCollectives(const ModuleContext& context, diag::Emitter& diag) {
  const auto counts = CountReduces(context.module);
  bool ok = true;
  for (uint32_t g = 0; g < counts.size(); ++g) {
    const auto [least, most] = std::ranges::minmax(counts[g]);
    if (least == most) continue;
    ok = false;
    Emit(context.module, g, counts[g], diag);
  }
  return ok;
}

}  // namespace pp::check
