// The fields of each section. Failures stay in the reader. Internal.
#pragma once

#include <vector>

#include "runtime/base/byte_reader.h"
#include "runtime/bytecode/module.h"

namespace pp::bytecode::format {

void ReadModuleFields(ByteReader& in, Module& module);
void ReadFactsFields(ByteReader& in, Facts& facts);
void ReadSitesFields(ByteReader& in, std::vector<Site>& sites);
void ReadRankFields(ByteReader& in, RankProgram& program);

}  // namespace pp::bytecode::format
