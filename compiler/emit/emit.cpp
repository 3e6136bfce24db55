#include "compiler/emit/emit.h"

#include <set>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

namespace pp::emit {
namespace {

// The check that every emitted module passes before it is written.
constexpr const char* kTier = "strict";

std::string Sha256(llvm::StringRef text) {
  const auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(digest, /*LowerCase=*/true);
}

std::string SourceHash(const ir::Schedule& schedule,
                       const source::SourceManager& sources) {
  std::set<uint32_t> files;
  if (schedule.name_span.valid()) files.insert(schedule.name_span.file);
  for (const ir::Site& site : schedule.sites) {
    if (site.span.valid()) files.insert(site.span.file);
  }
  std::string hashes;
  for (uint32_t file : files) hashes += Sha256(sources.Text(file));
  return files.size() > 1 ? Sha256(hashes) : hashes;
}

double InUnits(ir::Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ir::kTicksPerUnit);
}

}  // namespace

std::string CompilerVersion() { return "ppc " PP_VERSION; }

void FillFacts(bytecode::Module& module, const ir::Schedule& schedule,
               const ir::Metrics& metrics, const ir::CostModel& costs,
               const source::SourceManager& sources) {
  bytecode::Facts& facts = module.facts;
  facts.schedule = schedule.name;
  facts.params = schedule.params;
  if (schedule.name_span.valid()) {
    facts.source_file = sources.Name(schedule.name_span.file);
  }
  facts.source_hash = SourceHash(schedule, sources);
  facts.costs = ir::Print(costs);
  facts.cost_hash = Sha256(facts.costs);
  facts.placement = schedule.placement.text;
  facts.tier = kTier;
  facts.compiler = CompilerVersion();
  facts.makespan = InUnits(metrics.makespan);
  facts.bubble_fraction = metrics.bubble_fraction;
  facts.bubble_overhead = metrics.bubble_overhead;
  facts.bubble_longest_stage = metrics.bubble_longest_stage;
  facts.peak_activations.clear();
  for (const ir::RankMetrics& rank : metrics.ranks) {
    facts.peak_activations.push_back(rank.peak_activations);
  }
}

}  // namespace pp::emit
