#include "runtime/bytecode/file_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/byte_reader.h"
#include "runtime/base/crc32.h"
#include "runtime/bytecode/format.h"
#include "runtime/bytecode/version.h"

namespace pp::bytecode::format {
namespace {

using Bytes = std::span<const std::byte>;

bool StartsWith(Bytes file, std::string_view text) {
  return file.size() >= text.size() &&
         std::ranges::equal(file.first(text.size()),
                            std::as_bytes(std::span(text)));
}

// A file that is not bytecode: say what it rather is.
Status NotBytecode(Bytes file) {
  if (file.empty()) return InputError("the file is empty");
  if (StartsWith(file, "ppasm")) {
    return InputError(
        "this is the text form of bytecode: `ppc assemble` makes a `.ppb` of "
        "it");
  }
  const Bytes magic = std::as_bytes(std::span(kMagic));
  if (file.size() < magic.size() &&
      std::ranges::equal(file, magic.first(file.size()))) {
    return InputError(
        fmt::format("the file is cut short: {} bytes, the "
                    "header alone has {}",
                    file.size(), kHeaderBytes));
  }
  return InputError(
      "not bytecode: the file does not start with the mark of a `.ppb`");
}

Status CheckVersion(Bytes file) {
  if (file.size() < kHeaderBytes) {
    return InputError(
        fmt::format("the file is cut short: {} bytes, the "
                    "header alone has {}",
                    file.size(), kHeaderBytes));
  }
  ByteReader reader(file.subspan(kVersionOffset));
  const uint32_t version = reader.U32("version");
  if (version == kFormatVersion) return OkStatus();
  return InputError(fmt::format(
      "format version {}; this program reads version {}: compile again with "
      "the `ppc` that belongs to it",
      version, kFormatVersion));
}

// Of header and table, the field of the checksum itself taken as zero.
uint32_t HeaderCrc(Bytes head) {
  constexpr std::array<std::byte, 4> kZero{};
  const uint32_t before = Crc32(head.first(kHeaderCrcOffset));
  return Crc32(head.subspan(kHeaderBytes), Crc32(kZero, before));
}

struct Sizes {
  uint32_t sections;
  uint64_t file;
  uint32_t ranks;
  uint32_t crc;
};

Sizes ReadSizes(Bytes file) {
  ByteReader reader(file.subspan(kVersionOffset + 4));
  Sizes sizes{};
  sizes.sections = reader.U32("sections");
  sizes.file = reader.U64("file size");
  sizes.ranks = reader.U32("ranks");
  sizes.crc = reader.U32("checksum");
  return sizes;
}

Status CheckSizes(Bytes file, const Sizes& sizes) {
  const uint64_t head =
      kHeaderBytes + uint64_t{kSectionEntryBytes} * sizes.sections;
  if (file.size() < head) {
    return InputError(fmt::format(
        "the file is cut short or its header is damaged: {} bytes, header and "
        "section table have {}",
        file.size(), head));
  }
  if (HeaderCrc(file.first(head)) != sizes.crc) {
    return InputError("the header is damaged: its checksum does not match");
  }
  if (file.size() < sizes.file) {
    return InputError(fmt::format("the file is cut short: {} of {} bytes",
                                  file.size(), sizes.file));
  }
  if (file.size() > sizes.file) {
    return InputError(fmt::format("{} bytes follow the end of the bytecode",
                                  file.size() - sizes.file));
  }
  if (sizes.sections != uint64_t{sizes.ranks} + kFixedSections) {
    return InputError(fmt::format("{} sections for {} ranks, expected {}",
                                  sizes.sections, sizes.ranks,
                                  uint64_t{sizes.ranks} + kFixedSections));
  }
  return OkStatus();
}

SectionKind ExpectedKind(uint32_t index) {
  return index < kFixedSections ? static_cast<SectionKind>(index + 1)
                                : SectionKind::kRank;
}

// The entry of section `index`, expected to begin at `offset`.
Status ReadEntry(ByteReader& reader, uint32_t index, uint64_t offset,
                 uint64_t file_size, SectionEntry& entry) {
  const uint32_t kind = reader.U32("kind");
  const uint32_t rank = reader.U32("rank");
  entry.offset = reader.U64("offset");
  entry.size = reader.U64("size");
  entry.crc = reader.U32("checksum");
  const uint32_t zero = reader.U32("zero");
  const uint32_t expected_rank =
      index < kFixedSections ? 0 : index - kFixedSections;
  const bool good =
      kind == static_cast<uint32_t>(ExpectedKind(index)) &&
      rank == expected_rank && zero == 0 && entry.offset == offset &&
      entry.size <= file_size - offset && entry.size % kSectionAlignment == 0;
  if (good) return OkStatus();
  return InputError(fmt::format(
      "section table: entry {} does not describe section `{}` at offset {}",
      index, SectionName(index), offset));
}

Result<FileHeader> ReadTable(Bytes file, const Sizes& sizes) {
  FileHeader header{sizes.ranks, {}};
  header.sections.resize(sizes.sections);
  ByteReader reader(file.subspan(kHeaderBytes));
  uint64_t offset =
      kHeaderBytes + uint64_t{kSectionEntryBytes} * sizes.sections;
  for (uint32_t i = 0; i < sizes.sections; ++i) {
    SectionEntry& entry = header.sections[i];
    PP_RETURN_IF_ERROR(ReadEntry(reader, i, offset, sizes.file, entry));
    offset += entry.size;
  }
  if (offset == sizes.file) return header;
  return pp::Fail(InputError(
      fmt::format("sections end at byte {} of {}", offset, sizes.file)));
}

}  // namespace

Result<FileHeader> ReadHeader(Bytes file) {
  const Bytes magic = std::as_bytes(std::span(kMagic));
  const bool marked = file.size() >= magic.size() &&
                      std::ranges::equal(file.first(magic.size()), magic);
  if (!marked) return pp::Fail(NotBytecode(file));
  PP_RETURN_IF_ERROR(CheckVersion(file));
  const Sizes sizes = ReadSizes(file);
  PP_RETURN_IF_ERROR(CheckSizes(file, sizes));
  return ReadTable(file, sizes);
}

Result<Bytes> SectionBytes(Bytes file, const FileHeader& header,
                           uint32_t index) {
  const SectionEntry& entry = header.sections[index];
  const Bytes bytes = file.subspan(entry.offset, entry.size);
  const uint32_t crc = Crc32(bytes);
  if (crc == entry.crc) return bytes;
  return pp::Fail(InputError(
      fmt::format("section `{}` is damaged: checksum {:08x}, expected {:08x}",
                  SectionName(index), crc, entry.crc)));
}

}  // namespace pp::bytecode::format
