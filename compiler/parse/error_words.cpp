#include "compiler/parse/error_words.h"

#include "SchedParser.h"
#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace pp::parse {
namespace {

using P = grammar::SchedParser;

TypeSet Set(std::initializer_list<size_t> types) {
  TypeSet set;
  for (size_t type : types) set.set(type);
  return set;
}

TypeSet Range(size_t first, size_t last) {
  TypeSet set;
  for (size_t type = first; type <= last; ++type) set.set(type);
  return set;
}

const TypeSet& Operators() {
  static const TypeSet set = Range(P::OR, P::NOT) | Set({P::QUESTION});
  return set;
}

const TypeSet& Operations() {
  static const TypeSet set = Range(P::OP_F, P::OP_W);
  return set;
}

// Words that are names where no placement and no block is written.
const TypeSet& SoftKeywords() {
  static const TypeSet set = Range(P::LINEAR, P::EVERY);
  return set;
}

const TypeSet& Statements() {
  static const TypeSet set =
      Operations() | Set({P::LET, P::PHASE, P::REPEAT, P::FOR, P::IF});
  return set;
}

const TypeSet& Items() {
  static const TypeSet set =
      Set({P::REQUIRE, P::LET, P::PLACE, P::WALK, P::RANK, P::PHASE, P::MACRO,
           P::EXPECT, P::QUANTITIES, P::SLOTS, P::BLOCK});
  return set;
}

const TypeSet& Names() {
  static const TypeSet set = SoftKeywords() | Set({P::IDENT});
  return set;
}

// Sets that have a name of their own, larger ones first. A set that is part of
// the expected one is named and taken out, together with `also`.
struct NamedSet {
  TypeSet core;
  TypeSet also;
  llvm::StringLiteral words;
};

const std::vector<NamedSet>& NamedSets() {
  static const TypeSet expression =
      Names() | Set({P::INT, P::LPAREN, P::MINUS, P::NOT});
  static const std::vector<NamedSet> sets = {
      {Statements(), Names(), "a statement"},
      {Items(), {}, "a line of a schedule (`place`, `rank`, `expect`, ...)"},
      {expression | Operations(), {}, "an operation or an expression"},
      {expression, {}, "an expression"},
      {Names(), {}, "a name"},
      {Set({P::LINEAR, P::LOOP, P::VEE, P::WAVE, P::CUSTOM}),
       {},
       "a placement (`linear`, `loop(v)`, `vee`, `wave(k)` or `custom { ... "
       "}`)"},
      {Operations(), {}, "an operation (`F`, `B`, `I` or `W`)"},
      {Set({P::STRING}), {}, "a text in double quotes"},
      {Operators(), Set({P::COLON}), "an operator"},
  };
  return sets;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

TypeSet ToSet(const antlr4::misc::IntervalSet& types) {
  TypeSet set;
  for (ssize_t type : types.toList()) {
    if (type == static_cast<ssize_t>(antlr4::Token::EOF)) set.set(kEndOfFile);
    if (type > 0 && type <= ssize_t{P::UNKNOWN}) set.set(type);
  }
  return set;
}

bool IsKeyword(size_t type) { return type >= P::SCHEDULE && type <= P::WHEN; }

bool IsOperation(size_t type) { return type >= P::OP_F && type <= P::OP_W; }

bool StartsStatement(size_t type) {
  return type <= P::UNKNOWN && (Statements() | Names()).test(type);
}

bool StartsItem(size_t type) {
  return type <= P::UNKNOWN && Items().test(type);
}

bool StartsTopLevel(size_t type) {
  return type == P::SCHEDULE || type == P::MACRO || type == P::IMPORT;
}

ErrorWords::ErrorWords(const antlr4::dfa::Vocabulary& vocabulary)
    : spellings_(P::UNKNOWN + 1) {
  for (size_t type = 1; type < spellings_.size(); ++type) {
    // The tool keeps them in quotes: 'schedule'.
    spellings_[type] =
        llvm::StringRef(vocabulary.getLiteralName(type)).trim('\'').str();
  }
  spellings_[P::QUANTITIES] = "cost {";
}

std::string ErrorWords::Expected(TypeSet types) const {
  types.reset(P::SEMI);
  if ((types & ~Operators()).any() && (types & Operators()) == Operators()) {
    types &= ~(Operators() | Set({P::COLON}));
  }
  std::vector<std::string> words;
  for (const NamedSet& named : NamedSets()) {
    if ((types & named.core) != named.core) continue;
    words.push_back(named.words.str());
    types &= ~(named.core | named.also);
  }
  for (size_t type = 1; type < spellings_.size(); ++type) {
    if (types.test(type) && !spellings_[type].empty()) {
      words.push_back(fmt::format("`{}`", spellings_[type]));
    }
  }
  if (types.test(kEndOfFile)) words.push_back("the end of the file");
  return Join(words);
}

std::vector<std::string_view> ErrorWords::Keywords(const TypeSet& types) const {
  std::vector<std::string_view> words;
  for (size_t type = P::SCHEDULE; type <= P::EVERY; ++type) {
    if (types.test(type)) words.push_back(spellings_[type]);
  }
  return words;
}

}  // namespace pp::parse
