// Numbers with units, read exactly from a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "compiler/ir/cost_model.h"
#include "compiler/ir/cost_text.h"

namespace pp::ir {

// A place in a text that moves on as things are read.
struct Scanner {
  std::string_view text;
  size_t at = 0;

  bool AtEnd() const { return at == text.size(); }
  char Peek() const { return AtEnd() ? '\0' : text[at]; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at;
    return true;
  }
  // Blanks, line ends and `//` comments.
  void SkipBlanks();
};

struct Time {
  Ticks ticks = 0;
  bool has_unit = false;
};

tl::expected<Time, TextFault> ReadTime(Scanner& in);
tl::expected<Bytes, TextFault> ReadSize(Scanner& in);
// TIME [ + TIME / SIZE-UNIT ]
struct TimedWire {
  Wire wire;
  bool has_unit = false;
};
tl::expected<TimedWire, TextFault> ReadWire(Scanner& in);

}  // namespace pp::ir
