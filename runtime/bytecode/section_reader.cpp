#include "runtime/bytecode/section_reader.h"

#include <fmt/format.h>

#include "runtime/bytecode/format.h"

namespace pp::bytecode::format {
namespace {

constexpr size_t kMinGroupBytes = 12;  // kind, stage, count of ranks
constexpr size_t kMinParamBytes = 12;  // length of the name, value
constexpr size_t kMinSiteBytes = 16;   // two lengths, line, column

void ReadGroup(ByteReader& in, Group& group) {
  const uint32_t kind = in.U32("group: kind");
  if (kind >= kGroupKindCount) {
    in.Fail(fmt::format("unknown kind {} of a group", kind));
    return;
  }
  group.kind = static_cast<GroupKind>(kind);
  group.stage = StageId{in.U32("group: stage")};
  group.ranks.resize(in.Count(4, "group: ranks"));
  for (Rank& rank : group.ranks) rank = Rank{in.U32("group: rank")};
}

// The two arrays that make up nearly all of a file are taken whole: a bounds
// check for each of their fields costs more than the fields.
void ReadCode(ByteReader& in, size_t count, std::vector<Instr>& code) {
  const auto bytes = in.Bytes(count * kInstrBytes, "instructions");
  if (!in.ok()) return;
  code.resize(count);
  if (const Status status = Decode(bytes, code); !status.ok()) {
    in.Fail(status.message());
  }
}

uint32_t WordAt(const std::byte* bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < sizeof(value); ++i) {
    value |= static_cast<uint32_t>(bytes[i]) << (8 * i);
  }
  return value;
}

void ReadDebug(ByteReader& in, size_t count, std::vector<DebugEntry>& debug) {
  const auto bytes = in.Bytes(count * kDebugBytes, "debug entries");
  if (!in.ok()) return;
  debug.resize(count);
  const std::byte* at = bytes.data();
  for (DebugEntry& entry : debug) {
    entry = {WordAt(at), WordAt(at + 4)};
    at += kDebugBytes;
  }
}

}  // namespace

void ReadModuleFields(ByteReader& in, Module& module) {
  module.micro_batches = in.U32("micro-batches");
  module.stages = in.U32("stages");
  module.replicas = in.U32("replicas");
  module.lanes = in.U32("lanes");
  module.groups.resize(in.Count(kMinGroupBytes, "groups"));
  for (Group& group : module.groups) ReadGroup(in, group);
}

void ReadFactsFields(ByteReader& in, Facts& facts) {
#define PP_FACT_TEXT(field) facts.field = in.Text(#field);
#define PP_FACT_NUMBER(field) facts.field = in.F64(#field);
#include "runtime/bytecode/facts_fields.def"
  facts.params.resize(in.Count(kMinParamBytes, "params"));
  for (auto& [name, value] : facts.params) {
    name = in.Text("param: name");
    value = static_cast<int64_t>(in.U64("param: value"));
  }
  facts.peak_activations.resize(in.Count(4, "peak_activations"));
  for (uint32_t& peak : facts.peak_activations) {
    peak = in.U32("peak_activations");
  }
}

void ReadSitesFields(ByteReader& in, std::vector<Site>& sites) {
  sites.resize(in.Count(kMinSiteBytes, "sites"));
  for (Site& site : sites) {
    site.file = in.Text("site: file");
    site.line = in.U32("site: line");
    site.column = in.U32("site: column");
    site.phase = in.Text("site: phase");
  }
}

void ReadRankFields(ByteReader& in, RankProgram& program) {
  const uint32_t chunks = in.U32("chunks");
  program.slots = in.U32("slots");
  program.stashes = in.U32("stashes");
  const uint32_t instructions = in.U32("instructions");
  const uint32_t debug = in.U32("debug entries");
  for (int i = 0; i < 3; ++i) {
    if (in.U32("head") != 0) in.Fail("unused bytes of the head are not zero");
  }
  if (!in.Fits(instructions, kInstrBytes, "instructions")) return;
  ReadCode(in, instructions, program.code);
  if (!in.Fits(debug, kDebugBytes, "debug entries")) return;
  ReadDebug(in, debug, program.debug);
  if (!in.Fits(chunks, kChunkBytes, "chunks")) return;
  program.chunks.resize(chunks);
  for (ChunkInfo& chunk : program.chunks) {
    chunk.stage = StageId{in.U32("chunk: stage")};
    chunk.replica = in.U32("chunk: replica");
  }
}

}  // namespace pp::bytecode::format
