// Diagnostics as data, and the emitter that collects them.
//
// Wording: lower case, no full stop, backticks around code; the observed fact,
// then the rule, then a hint in `help`. Nothing here prints: see renderer.h.
#pragma once

#include <cstdint>
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
};

struct Note {
  Location where;
  std::string message;
};

struct Diagnostic {
  Code code{};
  Severity severity = Severity::kError;
  Location where;
  std::string message;
  std::vector<Note> notes;
  std::string help;
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

 private:
  Emitter& emitter_;
  Diagnostic diagnostic_;
};

// Collects. The same (code, place, message) is kept once; beyond a limit per
// code further ones are only counted ("12 more like this").
class Emitter {
 public:
  Builder Emit(Code code, Location where, std::string message);

  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }

 private:
  friend class Builder;
  friend class ContextScope;
  void Add(Diagnostic diagnostic);

  std::vector<Diagnostic> diagnostics_;
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
