// Header and section table of a `.ppb` file. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"

namespace pp::bytecode::format {

struct SectionEntry {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t crc = 0;
};

struct FileHeader {
  uint32_t ranks = 0;
  std::vector<SectionEntry> sections;  // fixed ones, then one per rank
};

// Magic, version, sizes, checksum of header and table; sections follow each
// other without a gap and end with the file.
Result<FileHeader> ReadHeader(std::span<const std::byte> file);

// The bytes of one section, its checksum compared.
Result<std::span<const std::byte>> SectionBytes(std::span<const std::byte> file,
                                                const FileHeader& header,
                                                uint32_t index);

}  // namespace pp::bytecode::format
