#include "runtime/bytecode/writer.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "runtime/base/byte_writer.h"
#include "runtime/base/crc32.h"
#include "runtime/base/quote.h"
#include "runtime/bytecode/format.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/version.h"

namespace pp::bytecode {
namespace {

using Notes = std::vector<FieldNote>;

bool FitsCount(size_t count) {
  return count <= std::numeric_limits<uint32_t>::max();
}

Status CountError(std::string_view what, size_t count) {
  return InputError(
      fmt::format("{} {}, more than a 32-bit count holds", count, what));
}

// One section's bytes and notes, offsets from its start.
class SectionWriter {
 public:
  explicit SectionWriter(bool with_notes)
      : out_(with_notes ? &notes_ : nullptr) {}
  SectionWriter(const SectionWriter&) = delete;
  SectionWriter& operator=(const SectionWriter&) = delete;

  Status Module(const bytecode::Module& module);
  Status Facts(const bytecode::Facts& facts);
  Status Sites(const std::vector<Site>& sites);
  Status Rank(const RankProgram& program);

  // Padded to whole sections; nothing may be written afterwards.
  std::vector<std::byte> TakeBytes() {
    out_.Pad(format::kSectionAlignment);
    return std::move(out_).Take();
  }
  Notes TakeNotes() { return std::move(notes_); }

 private:
  Status Count(std::string_view what, size_t count);
  Status Text(std::string_view what, std::string_view text);
  Status Group(size_t index, const bytecode::Group& group);
  Status Code(const RankProgram& program);
  void Debug(const RankProgram& program);

  Notes notes_;
  ByteWriter out_;
};

Status SectionWriter::Count(std::string_view what, size_t count) {
  if (!FitsCount(count)) return CountError(what, count);
  out_.U32(static_cast<uint32_t>(count), "{}: {}", what, count);
  return OkStatus();
}

Status SectionWriter::Text(std::string_view what, std::string_view text) {
  if (!FitsCount(text.size())) {
    return CountError(fmt::format("bytes of {}", what), text.size());
  }
  out_.U32(static_cast<uint32_t>(text.size()), "{}: length", what);
  out_.Bytes(std::as_bytes(std::span(text.data(), text.size())), "{}: {}", what,
             out_.annotated() ? Quote(text) : "");
  return OkStatus();
}

Status SectionWriter::Group(size_t index, const bytecode::Group& group) {
  const auto kind = static_cast<uint32_t>(group.kind);
  if (kind >= kGroupKindCount) {
    return InputError(fmt::format("group g{}: unknown kind {}", index, kind));
  }
  out_.U32(kind, "group g{}: {}", index, GroupKindName(group.kind));
  out_.U32(group.stage.value, "stage {}", group.stage.value);
  PP_RETURN_IF_ERROR(Count("ranks", group.ranks.size()));
  for (const pp::Rank rank : group.ranks) {
    out_.U32(rank.value, "rank {}", rank.value);
  }
  return OkStatus();
}

Status SectionWriter::Module(const bytecode::Module& module) {
  out_.U32(module.micro_batches, "micro-batches: {}", module.micro_batches);
  out_.U32(module.stages, "stages: {}", module.stages);
  out_.U32(module.replicas, "replicas: {}", module.replicas);
  out_.U32(module.lanes, "lanes: {}", module.lanes);
  PP_RETURN_IF_ERROR(Count("groups", module.groups.size()));
  for (size_t i = 0; i < module.groups.size(); ++i) {
    PP_RETURN_IF_ERROR(Group(i, module.groups[i]));
  }
  return OkStatus();
}

Status SectionWriter::Facts(const bytecode::Facts& facts) {
#define PP_FACT_TEXT(field) PP_RETURN_IF_ERROR(Text(#field, facts.field));
#define PP_FACT_NUMBER(field) out_.F64(facts.field, #field ": {}", facts.field);
#include "runtime/bytecode/facts_fields.def"
  PP_RETURN_IF_ERROR(Count("params", facts.params.size()));
  for (const auto& [name, value] : facts.params) {
    PP_RETURN_IF_ERROR(Text("param", name));
    out_.U64(static_cast<uint64_t>(value), "value {}", value);
  }
  PP_RETURN_IF_ERROR(Count("peak_activations", facts.peak_activations.size()));
  for (size_t rank = 0; rank < facts.peak_activations.size(); ++rank) {
    const uint32_t peak = facts.peak_activations[rank];
    out_.U32(peak, "rank {}: {}", rank, peak);
  }
  return OkStatus();
}

Status SectionWriter::Sites(const std::vector<Site>& sites) {
  PP_RETURN_IF_ERROR(Count("sites", sites.size()));
  for (size_t i = 0; i < sites.size(); ++i) {
    PP_RETURN_IF_ERROR(Text(fmt::format("site {}: file", i), sites[i].file));
    out_.U32(sites[i].line, "line {}", sites[i].line);
    out_.U32(sites[i].column, "column {}", sites[i].column);
    PP_RETURN_IF_ERROR(Text("phase", sites[i].phase));
  }
  return OkStatus();
}

Status SectionWriter::Code(const RankProgram& program) {
  const std::span<const Instr> code = program.code;
  if (!out_.annotated()) {
    return format::Encode(code, out_.Append(code.size() * kInstrBytes));
  }
  std::array<std::byte, kInstrBytes> bytes;
  for (size_t pc = 0; pc < code.size(); ++pc) {
    PP_RETURN_IF_ERROR(format::Encode(code.subspan(pc, 1), bytes));
    out_.Bytes(bytes, "pc {}: {}", pc, PrintInstr(code[pc]));
  }
  return OkStatus();
}

void SectionWriter::Debug(const RankProgram& program) {
  for (size_t pc = 0; pc < program.debug.size(); ++pc) {
    const DebugEntry& entry = program.debug[pc];
    out_.U32(entry.site, "debug of pc {}: site {}", pc,
             static_cast<int32_t>(entry.site));
    out_.U32(entry.iteration, "iteration {}", entry.iteration);
  }
}

Status SectionWriter::Rank(const RankProgram& program) {
  PP_RETURN_IF_ERROR(Count("chunks", program.chunks.size()));
  out_.U32(program.slots, "slots: {}", program.slots);
  out_.U32(program.stashes, "stashes: {}", program.stashes);
  PP_RETURN_IF_ERROR(Count("instructions", program.code.size()));
  PP_RETURN_IF_ERROR(Count("debug entries", program.debug.size()));
  out_.Pad(format::kRankHeadBytes);
  out_.Reserve(program.code.size() * kInstrBytes +
               program.debug.size() * format::kDebugBytes +
               program.chunks.size() * format::kChunkBytes +
               format::kSectionAlignment);
  PP_RETURN_IF_ERROR(Code(program));
  Debug(program);
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    const ChunkInfo& chunk = program.chunks[i];
    out_.U32(chunk.stage.value, "chunk c{}: stage {}", i, chunk.stage.value);
    out_.U32(chunk.replica, "replica {}", chunk.replica);
  }
  return OkStatus();
}

struct Section {
  format::SectionKind kind;
  uint32_t rank = 0;
  std::vector<std::byte> bytes;
  Notes notes;
};

// `fill` writes the section's fields.
template <class Fill>
Status Add(std::vector<Section>& sections, format::SectionKind kind,
           uint32_t rank, bool with_notes, const Fill& fill) {
  SectionWriter writer(with_notes);
  PP_RETURN_IF_ERROR(fill(writer));
  std::vector<std::byte> bytes = writer.TakeBytes();
  sections.push_back({kind, rank, std::move(bytes), writer.TakeNotes()});
  return OkStatus();
}

Result<std::vector<Section>> MakeSections(const Module& module,
                                          bool with_notes) {
  using Kind = format::SectionKind;
  std::vector<Section> sections;
  PP_RETURN_IF_ERROR(
      Add(sections, Kind::kModule, 0, with_notes,
          [&](SectionWriter& writer) { return writer.Module(module); }));
  PP_RETURN_IF_ERROR(
      Add(sections, Kind::kFacts, 0, with_notes,
          [&](SectionWriter& writer) { return writer.Facts(module.facts); }));
  PP_RETURN_IF_ERROR(
      Add(sections, Kind::kSites, 0, with_notes,
          [&](SectionWriter& writer) { return writer.Sites(module.sites); }));
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    const auto fill = [&](SectionWriter& writer) {
      return writer.Rank(module.programs[rank]);
    };
    PP_RETURN_IF_ERROR(Add(sections, Kind::kRank, rank, with_notes, fill)
                           .WithContext(fmt::format("rank {}", rank)));
  }
  return sections;
}

void WriteHeader(ByteWriter& out, const std::vector<Section>& sections,
                 uint64_t file_size) {
  const auto count = static_cast<uint32_t>(sections.size());
  const uint32_t ranks = count - format::kFixedSections;
  out.Bytes(std::as_bytes(std::span(format::kMagic)), "magic");
  out.U32(kFormatVersion, "format version: {}", kFormatVersion);
  out.U32(count, "sections: {}", count);
  out.U64(file_size, "file size: {}", file_size);
  out.U32(ranks, "ranks: {}", ranks);
  out.U32(0, "checksum of header and section table");
}

void WriteTable(ByteWriter& out, const std::vector<Section>& sections) {
  uint64_t offset = format::kHeaderBytes +
                    format::kSectionEntryBytes * uint64_t{sections.size()};
  for (uint32_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const std::string name =
        out.annotated() ? format::SectionName(i) : std::string();
    out.U32(static_cast<uint32_t>(section.kind), "section `{}`: kind {}", name,
            static_cast<uint32_t>(section.kind));
    out.U32(section.rank, "rank {}", section.rank);
    out.U64(offset, "offset {}", offset);
    out.U64(section.bytes.size(), "size {}", section.bytes.size());
    out.U32(Crc32(section.bytes), "checksum");
    out.U32(0, "zero");
    offset += section.bytes.size();
  }
}

void AppendNotes(Notes& notes, const Section& section, size_t offset) {
  for (const FieldNote& note : section.notes) {
    notes.push_back({note.offset + offset, note.size, note.text});
  }
}

}  // namespace

Result<std::vector<std::byte>> Write(const Module& module, Notes* notes) {
  PP_ASSIGN_OR_RETURN(std::vector<Section> sections,
                      MakeSections(module, notes != nullptr));
  uint64_t file_size = format::kHeaderBytes +
                       format::kSectionEntryBytes * uint64_t{sections.size()};
  for (const Section& section : sections) file_size += section.bytes.size();

  ByteWriter out(notes);
  WriteHeader(out, sections, file_size);
  WriteTable(out, sections);
  out.PatchU32(format::kHeaderCrcOffset, Crc32(out.bytes()));
  std::vector<std::byte> bytes = std::move(out).Take();
  bytes.reserve(file_size);
  for (Section& section : sections) {
    if (notes != nullptr) AppendNotes(*notes, section, bytes.size());
    bytes.insert(bytes.end(), section.bytes.begin(), section.bytes.end());
    section.bytes = {};  // the file is not held twice
  }
  return bytes;
}

}  // namespace pp::bytecode
