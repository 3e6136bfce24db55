// What the parser expected and found, in words a person uses. Private to
// parse/.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "antlr4-runtime.h"

namespace pp::parse {

// A set of token types; kEndOfFile stands for the end of the file.
using TypeSet = std::bitset<128>;
inline constexpr size_t kEndOfFile = 0;  // no token has this type

TypeSet ToSet(const antlr4::misc::IntervalSet& types);

bool IsKeyword(size_t type);  // of any use in grammar: never a name
bool IsOperation(size_t type);
bool StartsStatement(size_t type);
bool StartsItem(size_t type);  // a line of a schedule
bool StartsTopLevel(size_t type);

class ErrorWords {
 public:
  explicit ErrorWords(const antlr4::dfa::Vocabulary& vocabulary);

  // "`,` or `)`", "a statement or `}`". Operators are named only when there
  // is nothing else: behind an expression one could always follow.
  std::string Expected(TypeSet types) const;

  // The keywords in the set, for "did you mean".
  std::vector<std::string_view> Keywords(const TypeSet& types) const;

 private:
  std::vector<std::string> spellings_;  // by type; empty: more than one
};

}  // namespace pp::parse
