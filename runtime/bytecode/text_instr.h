// Instructions and their source places in `.ppasm` text. Internal.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/bytecode/text_cursor.h"

namespace pp::bytecode::text {

// The operands of `mnemonic`, which has been read.
Instr ParseInstr(Cursor& in, std::string_view mnemonic);

// The module's sites while its text is read: `site` lines add one each, the
// places of instructions find one or add it.
class SiteTable {
 public:
  explicit SiteTable(std::vector<Site>& sites) : sites_(sites) {}

  void Add(Site site);
  uint32_t FindOrAdd(const Site& site);
  size_t size() const { return sites_.size(); }

 private:
  struct Less {
    bool operator()(const Site& a, const Site& b) const;
  };
  std::vector<Site>& sites_;
  std::map<Site, uint32_t, Less> index_;  // the first of equal ones
};

// "FILE:LINE:COL", then the phase when `site` lines have one.
Site ParseSite(Cursor& in);

// Behind `;`: "-", "#SITE[N]" or "FILE:LINE:COL PHASE[N]".
DebugEntry ParseDebug(Cursor& in, SiteTable& sites);

}  // namespace pp::bytecode::text
