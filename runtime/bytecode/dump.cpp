#include "runtime/bytecode/dump.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "runtime/base/quote.h"
#include "runtime/bytecode/dump_hex.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/version.h"

namespace pp::bytecode {
namespace {

// `text`, between quotes when something in it cannot be shown.
std::string Shown(const std::string& text) {
  const std::string quoted = Quote(text);
  return quoted.size() == text.size() + 2 ? text : quoted;
}

void Line(std::ostream& out, std::string_view name, const std::string& value) {
  fmt::print(out, "  {:<20} {}\n", name, value);
}

void DumpHeader(const Module& module, std::ostream& out) {
  out << "module\n";
  Line(out, "format version", fmt::to_string(kFormatVersion));
  Line(out, "ranks", fmt::to_string(module.ranks()));
  Line(out, "micro-batches", fmt::to_string(module.micro_batches));
  Line(out, "stages", fmt::to_string(module.stages));
  Line(out, "replicas", fmt::to_string(module.replicas));
  Line(out, "lanes", fmt::to_string(module.lanes));
  for (size_t i = 0; i < module.groups.size(); ++i) {
    const Group& group = module.groups[i];
    std::string ranks;
    for (const Rank rank : group.ranks) ranks += fmt::format(" {}", rank.value);
    const std::string stage =
        group.kind == GroupKind::kReplicas
            ? fmt::format(" of stage {}", group.stage.value)
            : "";
    Line(out, fmt::format("group g{}", i),
         fmt::format("{}{}, ranks{}", GroupKindName(group.kind), stage, ranks));
  }
}

void DumpFacts(const Facts& facts, std::ostream& out) {
  out << "facts (of the compiler; nothing that runs depends on them)\n";
#define PP_FACT_TEXT(field) \
  if (!facts.field.empty()) Line(out, #field, Shown(facts.field));
#define PP_FACT_NUMBER(field) Line(out, #field, fmt::to_string(facts.field));
#include "runtime/bytecode/facts_fields.def"
  std::string params;
  for (const auto& [name, value] : facts.params) {
    params +=
        fmt::format("{}{}={}", params.empty() ? "" : " ", Shown(name), value);
  }
  if (!params.empty()) Line(out, "params", params);
  if (!facts.peak_activations.empty()) {
    Line(out, "peak_activations",
         fmt::format("{}, by rank, in chunks",
                     fmt::join(facts.peak_activations, " ")));
  }
}

std::string ChunksText(const RankProgram& program) {
  if (program.chunks.empty()) return "no chunk";
  std::string text;
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    const ChunkInfo& chunk = program.chunks[i];
    text += fmt::format("{}c{} = stage {}", i == 0 ? "" : ", ", i,
                        chunk.stage.value);
    if (chunk.replica != 0) {
      text += fmt::format(" of replica {}", chunk.replica);
    }
  }
  return text;
}

void DumpRank(const Module& module, Rank rank, std::ostream& out) {
  const RankProgram& program = module.programs[rank.value];
  fmt::print(out, "rank {}: {}; {} slots, {} stashes, {} instructions\n",
             rank.value, ChunksText(program), program.slots, program.stashes,
             program.code.size());
  for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const std::string text = PrintInstr(program.code[pc]);
    const std::string place = PrintSite(module, rank, Pc{pc});
    if (place.empty()) {
      fmt::print(out, "  {:>6}  {}\n", pc, text);
    } else {
      fmt::print(out, "  {:>6}  {:<34}  {}\n", pc, text, place);
    }
  }
}

void DumpRanks(const Module& module, const DumpOptions& options,
               std::ostream& out) {
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    if (options.rank && options.rank->value != rank) continue;
    out << '\n';
    DumpRank(module, Rank{rank}, out);
  }
}

}  // namespace

Status Dump(const Module& module, const DumpOptions& options,
            std::ostream& out) {
  if (options.rank && options.rank->value >= module.ranks()) {
    return UsageError(fmt::format("no rank {}: it was compiled for {}",
                                  options.rank->value, module.ranks()));
  }
  if (options.hex) return internal::DumpHex(module, options.rank, out);
  DumpHeader(module, out);
  out << '\n';
  DumpFacts(module.facts, out);
  DumpRanks(module, options, out);
  return OkStatus();
}

}  // namespace pp::bytecode
