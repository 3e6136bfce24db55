// Rules: each stage is held by exactly one chunk per replica; each (stage,
// micro-batch) goes forward once and back once (by one BACKWARD, or by one
// BACKWARD_INPUT and one BACKWARD_WEIGHT), over all replicas together.
// Codes: ModulePlacement (6001), Missing (4001), Doubled (4002). Cost: linear.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "compiler/analysis/compute_ref.h"
#include "compiler/check/checks.h"
#include "compiler/check/coverage.h"
#include "compiler/check/module_where.h"

namespace pp::check {
namespace {

using analysis::ComputeOf;
using bytecode::Instr;
using bytecode::Module;
using bytecode::Opcode;

// First and last instruction on the finding's first rank that run it; of
// those for its first micro-batch unless it is missing.
struct Span {
  std::optional<InstrRef> first, last;
};
Span Occurrences(const Module& module, const CoverageFinding& f,
                 ir::OpKind kind) {
  const auto& [rank, mbs] = f.where.front();
  const auto& code = module.programs[rank.value].code;
  Span span;
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    const auto c = ComputeOf(code[pc]);
    if (!c || c->kind != kind || c->chunk != f.chunk) continue;
    const bool same = c->mb == mbs.front();
    if (f.fault != CoverageFault::kMissing && !same) continue;
    if (!span.first) span.first = InstrRef{rank, Pc(pc)};
    span.last = InstrRef{rank, Pc(pc)};
  }
  return span;
}

void Emit(const Module& module, const CoverageFinding& f, diag::Emitter& diag) {
  const Span here = Occurrences(module, f, f.kind);
  const Span first = f.fault == CoverageFault::kBesides
                         ? Occurrences(module, f, ir::OpKind::kB)
                         : here;
  const bool missing = f.fault == CoverageFault::kMissing;
  auto error = diag.Emit(
      missing ? diag::Code::kMissing : diag::Code::kDoubled,
      here.last ? Where(module, *here.last) : diag::Location{}, Message(f));
  if (!missing && first.first) {
    error.Note(Where(module, *first.first),
               NameAt(module, *first.first) + " is the first");
  }
  if (!missing && here.last && here.last != first.first) {
    error.Note(Where(module, *here.last),
               NameAt(module, *here.last) + " comes on top");
  }
  error.Help(HelpText(f));
}

// A module may claim any number of micro-batches: memory is taken only for as
// many as its instructions could cover.
bool FarTooFew(const Module& module, diag::Emitter& diag) {
  constexpr uint64_t kAlwaysListed = 1 << 20;
  uint64_t forwards = 0;
  for (const auto& program : module.programs) {
    for (const Instr& instr : program.code) {
      forwards += instr.op == Opcode::kForward ? 1 : 0;
    }
  }
  const uint64_t needed = uint64_t{module.stages} * module.micro_batches;
  if (needed <= kAlwaysListed || needed <= forwards) return false;
  diag.Emit(diag::Code::kMissing, {},
            fmt::format("{} stages and {} micro-batches need {} forwards, the "
                        "module has {}",
                        module.stages, module.micro_batches, needed, forwards));
  return true;
}

}  // namespace

bool ModulePlacement(const ModuleContext& context, diag::Emitter& diag) {
  const Module& module = context.module;
  const uint64_t replicas = module.replicas;
  const auto name = [&](uint64_t cell) {
    const uint64_t stage = cell / replicas;
    return replicas == 1
               ? fmt::format("stage {}", stage)
               : fmt::format("stage {} (replica {})", stage, cell % replicas);
  };
  const auto say = [&](const std::string& what) {
    diag.Emit(diag::Code::kModulePlacement, {}, what)
        .Help("each stage is a chunk of one rank, in each replica");
  };
  // Sparse: the counts of a file may be far larger than the file.
  std::map<uint64_t, uint32_t> holder;
  bool ok = true;
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    for (const bytecode::ChunkInfo& chunk : module.programs[r].chunks) {
      const uint64_t cell = chunk.stage.value * replicas + chunk.replica;
      const auto [held, fresh] = holder.try_emplace(cell, r);
      if (fresh) continue;
      ok = false;
      say(fmt::format("{} is held by rank {} and by rank {}", name(cell),
                      held->second, r));
    }
  }
  const uint64_t missing = module.stages * replicas - holder.size();
  if (missing == 0) return ok;
  uint64_t first = 0;
  for (const auto& [cell, rank] : holder) first += cell == first;
  say(fmt::format(
      "{} is held by no rank{}", name(first),
      missing == 1 ? "" : fmt::format(", and {} more", missing - 1)));
  return false;
}

bool ModuleCoverage(const ModuleContext& context, diag::Emitter& diag) {
  const Module& module = context.module;
  if (FarTooFew(module, diag)) return false;
  Coverage coverage(module.stages, module.micro_batches);
  std::vector<Holder> holders;
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    const auto& program = module.programs[r];
    for (uint32_t c = 0; c < program.chunks.size(); ++c) {
      // Over replicas the first holder speaks for the stage.
      if (program.chunks[c].replica > 0) continue;
      holders.push_back({Rank(r), c, program.chunks[c].stage.value});
    }
    for (const Instr& instr : program.code) {
      if (const auto c = ComputeOf(instr)) {
        coverage.Count(program.chunks[c->chunk].stage.value, c->mb, c->kind);
      }
    }
  }
  const auto findings = FindFaults(coverage, holders);
  for (const CoverageFinding& f : findings) Emit(module, f, diag);
  return findings.empty();
}

}  // namespace pp::check
