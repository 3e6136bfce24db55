#include "runtime/bytecode/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/file_io.h"
#include "runtime/bytecode/file_header.h"
#include "runtime/bytecode/format.h"
#include "runtime/bytecode/section_reader.h"
#include "runtime/bytecode/verifier.h"

namespace pp::bytecode {
namespace {

using Bytes = std::span<const std::byte>;
using format::FileHeader;

// Checks the section's sum, then lets `parse` take its fields.
template <class Parse>
Status ReadSection(Bytes file, const FileHeader& header, uint32_t index,
                   const Parse& parse) {
  const std::string context =
      fmt::format("section `{}`", format::SectionName(index));
  PP_ASSIGN_OR_RETURN(const Bytes bytes,
                      format::SectionBytes(file, header, index));
  ByteReader reader(bytes);
  parse(reader);
  reader.ExpectPadding(format::kSectionAlignment);
  return reader.status().WithContext(context);
}

Status ReadRankSection(Bytes file, const FileHeader& header, uint32_t rank,
                       RankProgram& program) {
  return ReadSection(
      file, header, format::kFixedSections + rank,
      [&](ByteReader& in) { format::ReadRankFields(in, program); });
}

Status ReadAll(Bytes file, const FileHeader& header, Module& module) {
  PP_RETURN_IF_ERROR(ReadSection(file, header, 0, [&](ByteReader& in) {
    format::ReadModuleFields(in, module);
  }));
  PP_RETURN_IF_ERROR(ReadSection(file, header, 1, [&](ByteReader& in) {
    format::ReadFactsFields(in, module.facts);
  }));
  PP_RETURN_IF_ERROR(ReadSection(file, header, 2, [&](ByteReader& in) {
    format::ReadSitesFields(in, module.sites);
  }));
  module.programs.resize(header.ranks);
  for (uint32_t rank = 0; rank < header.ranks; ++rank) {
    PP_RETURN_IF_ERROR(
        ReadRankSection(file, header, rank, module.programs[rank]));
  }
  return OkStatus();
}

}  // namespace

Result<Module> Read(Bytes bytes) {
  PP_ASSIGN_OR_RETURN(const FileHeader header, format::ReadHeader(bytes));
  Module module;
  PP_RETURN_IF_ERROR(ReadAll(bytes, header, module));
  return module;
}

Result<RankProgram> ReadRank(Bytes bytes, Rank rank) {
  PP_ASSIGN_OR_RETURN(const FileHeader header, format::ReadHeader(bytes));
  if (rank.value >= header.ranks) {
    return Fail(InputError(fmt::format("no rank {}: it was compiled for {}",
                                       rank.value, header.ranks)));
  }
  RankProgram program;
  PP_RETURN_IF_ERROR(ReadRankSection(bytes, header, rank.value, program));
  return program;
}

Result<Module> Load(std::span<const std::byte> bytes, const std::string& path) {
  Result<Module> module = Read(bytes);
  if (!module) return Fail(module.error().WithContext(path));
  PP_RETURN_IF_ERROR(Verify(*module).WithContext(path));
  return module;
}

Result<Module> LoadFile(const std::string& path) {
  PP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  return Load(bytes, path);
}

}  // namespace pp::bytecode
