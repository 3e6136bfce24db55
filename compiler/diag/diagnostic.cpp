#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace pp::diag {
namespace {

struct Row {
  Code code;
  std::string_view name;
  Severity severity;
  std::string_view summary;
};

constexpr Row kRows[] = {
#define PP_DIAG(Name, number, level, text) \
  {Code::k##Name, #Name, Severity::k##level, text},
#include "compiler/diag/codes.def"
};

constexpr size_t kIdLength = 6;  // "PP4003"

// CodeInfo holds views; this is what they look at.
std::array<std::string, std::size(kRows)> MakeIds() {
  std::array<std::string, std::size(kRows)> ids;
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = fmt::format("PP{:04}", static_cast<unsigned>(kRows[i].code));
  }
  return ids;
}

std::vector<CodeInfo> MakeCodes() {
  static const auto ids = MakeIds();
  std::vector<CodeInfo> codes;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Row& row = kRows[i];
    codes.push_back({row.code, row.name, ids[i], row.severity, row.summary});
  }
  std::sort(codes.begin(), codes.end(),
            [](const auto& a, const auto& b) { return a.code < b.code; });
  return codes;
}

size_t HashOf(const Diagnostic& d) {
  const std::string key = fmt::format(
      "{}:{}:{}:{}:{}:{}:{}", d.where.span.file, d.where.span.begin,
      d.where.span.end, d.where.file, d.where.line, d.where.column, d.message);
  return std::hash<std::string>()(key);
}

// 0: in a loaded source, 1: known by name, 2: nowhere.
int KindOfPlace(const Location& where) {
  if (where.span.valid()) return 0;
  return where.file.empty() ? 2 : 1;
}

bool ComesBefore(const Diagnostic* a, const Diagnostic* b) {
  const auto key = [](const Location& at) {
    return std::make_tuple(KindOfPlace(at), at.span.file, at.span.begin,
                           std::string_view(at.file), at.line, at.column);
  };
  return key(a->where) < key(b->where);
}

}  // namespace

Builder::Builder(Emitter& emitter, Diagnostic diagnostic)
    : emitter_(emitter), diagnostic_(std::move(diagnostic)) {}

Builder::~Builder() { emitter_.Add(std::move(diagnostic_)); }

Builder& Builder::Note(Location where, std::string message) {
  diagnostic_.notes.push_back({std::move(where), std::move(message)});
  return *this;
}

Builder& Builder::Help(std::string text) {
  diagnostic_.help = std::move(text);
  return *this;
}

Builder& Builder::Circle(std::vector<CircleEdge> edges) {
  diagnostic_.circle = std::move(edges);
  return *this;
}

Builder Emitter::Emit(Code code, Location where, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.severity = Info(code).severity;
  diagnostic.where = std::move(where);
  diagnostic.message = std::move(message);
  return Builder(*this, std::move(diagnostic));
}

bool Emitter::IsKept(const Diagnostic& d) const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [&](const Diagnostic& other) {
                       return other.code == d.code && other.where == d.where &&
                              other.message == d.message;
                     });
}

void Emitter::Add(Diagnostic diagnostic) {
  if (IsKept(diagnostic)) return;
  Tally& tally = tallies_[diagnostic.code];
  if (tally.kept == kMaxPerCode) {
    if (!tally.more_seen.insert(HashOf(diagnostic)).second) return;
    ++tally.more;
  }
  if (diagnostic.severity == Severity::kError) ++errors_;
  if (tally.more > 0) return;
  ++tally.kept;
  diagnostic.notes.insert(diagnostic.notes.end(), context_.rbegin(),
                          context_.rend());
  diagnostics_.push_back(std::move(diagnostic));
}

std::vector<const Diagnostic*> Emitter::Sorted() const {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : diagnostics_) sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), ComesBefore);
  return sorted;
}

size_t Emitter::MoreLike(Code code) const {
  const auto tally = tallies_.find(code);
  return tally == tallies_.end() ? 0 : tally->second.more;
}

ContextScope::ContextScope(Emitter& emitter, Location where,
                           std::string message)
    : emitter_(emitter) {
  emitter_.context_.push_back({std::move(where), std::move(message)});
}

ContextScope::~ContextScope() { emitter_.context_.pop_back(); }

const std::vector<CodeInfo>& AllCodes() {
  static const std::vector<CodeInfo> codes = MakeCodes();
  return codes;
}

const CodeInfo& Info(Code code) {
  const auto& codes = AllCodes();
  return *std::lower_bound(
      codes.begin(), codes.end(), code,
      [](const CodeInfo& info, Code wanted) { return info.code < wanted; });
}

const CodeInfo* FindCode(std::string_view id) {
  llvm::StringRef digits(id.data(), id.size());
  if (digits.startswith_insensitive("pp")) digits = digits.drop_front(2);
  unsigned number = 0;
  if (digits.size() + 2 > kIdLength || digits.getAsInteger(10, number)) {
    return nullptr;
  }
  for (const CodeInfo& info : AllCodes()) {
    if (static_cast<unsigned>(info.code) == number) return &info;
  }
  return nullptr;
}

}  // namespace pp::diag
