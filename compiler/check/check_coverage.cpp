// Rule: each (stage, micro-batch) is run once as F, and backwards once: as
// one B, or as one I and one W.
// Codes: Missing (4001), Doubled (4002). Cost: linear.
//
//   phase drain { repeat M-1 { B } }     // B[0] missing for m = M-1
#include <fmt/format.h>

#include <optional>

#include "compiler/check/checks.h"
#include "compiler/check/coverage.h"
#include "compiler/check/schedule_where.h"

namespace pp::check {
namespace {

// The operations of one kind, chunk and micro-batch on a rank, in order.
std::vector<const ir::Op*> Occurrences(const ir::Schedule& schedule, Rank rank,
                                       ir::OpKind kind, uint32_t chunk,
                                       std::optional<uint32_t> mb) {
  std::vector<const ir::Op*> found;
  for (const ir::Op& op : schedule.programs[rank.value]) {
    if (op.kind == kind && op.chunk == chunk && (!mb || op.mb == *mb)) {
      found.push_back(&op);
    }
  }
  return found;
}

void EmitMissing(const ir::Schedule& schedule, const CoverageFinding& f,
                 diag::Emitter& diag) {
  const Rank rank = f.where.front().first;
  auto error = diag.Emit(diag::Code::kMissing, schedule.name_span, Message(f));
  const auto others =
      Occurrences(schedule, rank, f.kind, f.chunk, std::nullopt);
  if (others.empty()) {
    error.Help(HelpText(f));
    return;
  }
  const ir::Op& last = *others.back();
  error.Note(Where(schedule, last),
             "the last one that rank " + std::to_string(rank.value) +
                 " runs is " + Name(schedule, rank, last));
  error.Help(HelpText(f));
}

void EmitTooMuch(const ir::Schedule& schedule, const CoverageFinding& f,
                 diag::Emitter& diag) {
  const auto& [rank, mbs] = f.where.front();
  const bool besides = f.fault == CoverageFault::kBesides;
  const auto here = Occurrences(schedule, rank, f.kind, f.chunk, mbs.front());
  const auto first = besides ? Occurrences(schedule, rank, ir::OpKind::kB,
                                           f.chunk, mbs.front())
                             : here;
  const ir::Op& second = besides ? *here.front() : *here.back();
  auto error =
      diag.Emit(diag::Code::kDoubled, Where(schedule, second), Message(f));
  error.Note(Where(schedule, *first.front()),
             Name(schedule, rank, *first.front()) +
                 (besides ? " is here" : " runs here already"));
  error.Help(HelpText(f));
}

// Any M may be asked for: memory is taken only for as many micro-batches as
// the programs could cover.
bool FarTooFew(const ir::Schedule& schedule, diag::Emitter& diag) {
  constexpr uint64_t kAlwaysListed = 1 << 20;
  uint64_t ops = 0;
  for (const auto& program : schedule.programs) ops += program.size();
  const uint64_t needed =
      uint64_t{schedule.placement.stages} * schedule.micro_batches;
  if (needed <= kAlwaysListed || needed <= ops) return false;
  diag.Emit(diag::Code::kMissing, schedule.name_span,
            fmt::format("{} stages and {} micro-batches need {} forwards and "
                        "as many backwards, the ranks run {} operations",
                        schedule.placement.stages, schedule.micro_batches,
                        needed, ops));
  return true;
}

}  // namespace

bool ScheduleCoverage(const ir::Schedule& schedule, diag::Emitter& diag) {
  if (FarTooFew(schedule, diag)) return false;
  Coverage coverage(schedule.placement.stages, schedule.micro_batches);
  std::vector<Holder> holders;
  for (uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& chunks = schedule.placement.stage[r];
    for (uint32_t c = 0; c < chunks.size(); ++c) {
      holders.push_back({Rank(r), c, chunks[c]});
    }
    for (const ir::Op& op : schedule.programs[r]) {
      coverage.Count(chunks[op.chunk], op.mb, op.kind);
    }
  }
  const auto findings = FindFaults(coverage, holders);
  for (const CoverageFinding& finding : findings) {
    if (finding.fault == CoverageFault::kMissing) {
      EmitMissing(schedule, finding, diag);
    } else {
      EmitTooMuch(schedule, finding, diag);
    }
  }
  return findings.empty();
}

}  // namespace pp::check
