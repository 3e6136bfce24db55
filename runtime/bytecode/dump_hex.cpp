#include "runtime/bytecode/dump_hex.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "runtime/bytecode/file_header.h"
#include "runtime/bytecode/format.h"
#include "runtime/bytecode/writer.h"

namespace pp::bytecode::internal {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kBytesPerLine = 16;

// "00000020  01 00 00 00   what it says"; what does not fit on one line goes
// on without a word.
void DumpField(Bytes bytes, const FieldNote& note, std::ostream& out) {
  for (size_t done = 0; done < note.size; done += kBytesPerLine) {
    const size_t offset = note.offset + done;
    std::string hex;
    for (const std::byte byte :
         bytes.subspan(offset, std::min(kBytesPerLine, note.size - done))) {
      hex += fmt::format("{:02x} ", static_cast<unsigned>(byte));
    }
    if (done == 0) {
      fmt::print(out, "{:08x}  {:<48} {}\n", offset, hex, note.text);
    } else {
      hex.pop_back();
      fmt::print(out, "{:08x}  {}\n", offset, hex);
    }
  }
}

void DumpFields(Bytes bytes, std::span<const FieldNote> notes,
                std::ostream& out) {
  for (const FieldNote& note : notes) DumpField(bytes, note, out);
}

// The notes of bytes [begin, end).
std::span<const FieldNote> Within(std::span<const FieldNote> notes,
                                  uint64_t begin, uint64_t end) {
  const auto first =
      std::ranges::lower_bound(notes, begin, {}, &FieldNote::offset);
  const auto last =
      std::ranges::lower_bound(notes, end, {}, &FieldNote::offset);
  return {first, last};
}

}  // namespace

Status DumpHex(const Module& module, std::optional<Rank> rank,
               std::ostream& out) {
  std::vector<FieldNote> notes;
  PP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                      Write(module, &notes));
  PP_ASSIGN_OR_RETURN(const format::FileHeader header,
                      format::ReadHeader(bytes));
  if (!rank) {
    out << "header and section table\n";
    DumpFields(bytes, Within(notes, 0, header.sections[0].offset), out);
  }
  for (uint32_t i = 0; i < header.sections.size(); ++i) {
    if (rank && i != format::kFixedSections + rank->value) continue;
    const format::SectionEntry& entry = header.sections[i];
    fmt::print(out, "{}section `{}`\n", rank ? "" : "\n",
               format::SectionName(i));
    DumpFields(bytes, Within(notes, entry.offset, entry.offset + entry.size),
               out);
  }
  return OkStatus();
}

}  // namespace pp::bytecode::internal
