// Diagnostics as data, and the emitter that collects them.
//
// Wording: lower case, no full stop, backticks around code; the observed fact,
// then the rule, then a hint in `help`. Nothing here prints: see renderer.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source_manager.h"

namespace pp::diag {

enum class Severity : uint8_t { kError, kWarning, kNote };

enum class Code : uint16_t {
#define PP_DIAG(Name, number, ...) k##Name = number,
#include "compiler/diag/codes.def"
};

// A place: a span of a loaded source, or a file:line:column known only by
// name (from the debug section of bytecode), or neither.
struct Location {
  source::Span span;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  Location() = default;
  Location(source::Span s) : span(s) {}  // NOLINT: spans convert
  friend bool operator==(const Location&, const Location&) = default;
};

struct Note {
  Location where;
  std::string message;
};

// One arrow of a circle in which ranks wait: `from` waits for `to`.
struct Waiting {
  uint32_t rank = 0;
  std::string what;
  Location where;
};
struct CircleEdge {
  Waiting from;
  Waiting to;
  std::string why;
};

struct Diagnostic {
  Code code{};
  Severity severity = Severity::kError;
  Location where;
  std::string message;
  std::vector<Note> notes;
  std::string help;
  std::vector<CircleEdge> circle;  // of those that are one
};

// Fills in one diagnostic; it is handed to the emitter when this goes.
class Builder {
 public:
  Builder(class Emitter& emitter, Diagnostic diagnostic);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  Builder& Note(Location where, std::string message);
  Builder& Help(std::string text);
  Builder& Circle(std::vector<CircleEdge> edges);

 private:
  Emitter& emitter_;
  Diagnostic diagnostic_;
};

// Beyond this many of one code, a reader has seen the pattern.
inline constexpr size_t kMaxPerCode = 20;

// Collects. The same (code, place, message) is kept once; beyond a limit per
// code further ones are only counted ("12 more like this").
class Emitter {
 public:
  Builder Emit(Code code, Location where, std::string message);

  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const {
    return diagnostics_;
  }  // as emitted

  // As shown: by file and offset, then places known by name only, then those
  // without a place; equal places in the order of emission.
  std::vector<const Diagnostic*> Sorted() const;
  // How many of this code were counted but not kept.
  size_t MoreLike(Code code) const;

 private:
  friend class Builder;
  friend class ContextScope;
  struct Tally {
    size_t kept = 0;
    size_t more = 0;
    std::set<size_t> more_seen;  // hashes: only counted, so a clash is harmless
  };
  void Add(Diagnostic diagnostic);
  bool IsKept(const Diagnostic& diagnostic) const;

  std::vector<Diagnostic> diagnostics_;
  std::map<Code, Tally> tallies_;
  std::vector<struct Note> context_;
  size_t errors_ = 0;
};

// While it lives, every diagnostic gets this note, innermost first:
// "while expanding `repeat 3` (rank 2, iteration 1)".
class ContextScope {
 public:
  ContextScope(Emitter& emitter, Location where, std::string message);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  Emitter& emitter_;
};

struct CodeInfo {
  Code code;
  std::string_view name;
  std::string_view id;  // "PP4003"
  Severity severity;
  std::string_view summary;
};
const std::vector<CodeInfo>& AllCodes();
const CodeInfo& Info(Code code);
const CodeInfo* FindCode(std::string_view id);  // "PP4003", "4003"

}  // namespace pp::diag
