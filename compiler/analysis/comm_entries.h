// The communication queue of each rank, as entries: a lone SEND or RECV, or a
// group; which transfers they hold, and which entries can only start together.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/analysis/comm_match.h"
#include "llvm/ADT/SmallVector.h"

namespace pp::analysis {

inline constexpr uint32_t kNoEntry = 0xFFFFFFFF;

struct Entry {
  Rank rank;
  Pc begin;  // GROUP_BEGIN, or the SEND or RECV itself
  Pc end;    // GROUP_END, or the same
  llvm::SmallVector<uint32_t, 2> transfers;
  uint32_t component = 0;  // entries with the same number start together
};

struct CommEntries {
  std::vector<Transfer> transfers;
  std::vector<Entry> entries;  // by rank, in issue order; no empty groups
  // [rank][pc]: of a SEND or RECV its transfer, of these and of a GROUP_END
  // the entry; kNoEntry elsewhere.
  std::vector<std::vector<uint32_t>> transfer_at, entry_at;
  uint32_t components = 0;
  std::vector<bool> joined;  // by component: holds a group of two or more
};

// `match` is complete.
CommEntries BuildEntries(const bytecode::Module& module,
                         const CommMatch& match);

}  // namespace pp::analysis
