// .ppasm -> Module, line by line. A keyword of kSections opens a section, the
// lines after it belong to it until the next one; indentation means nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "runtime/bytecode/text.h"
#include "runtime/bytecode/text_cursor.h"
#include "runtime/bytecode/text_instr.h"
#include "runtime/bytecode/version.h"

namespace pp::bytecode {
namespace {

using text::Cursor;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kSections = {"module", "facts",
                                                       "group", "site", "rank"};
constexpr std::array<std::string_view, 4> kModuleFields = {
    "micro_batches", "stages", "replicas", "lanes"};
constexpr std::array<std::string_view, 4> kRankFields = {"chunk", "slots",
                                                         "stashes", "code"};
constexpr std::array<std::string_view, kGroupKindCount> kGroupKinds = {
    "replicas", "tied"};

class TextParser {
 public:
  TextParser() : sites_(module_.sites) {}

  // One line that is not empty. Failures stay in the cursor.
  void Line(Cursor& in);
  bool started() const { return section_ != Section::kStart; }
  Module Take() { return std::move(module_); }

 private:
  enum class Section { kStart, kNone, kModule, kFacts, kRank, kCode };

  void Version(Cursor& in, std::string_view word);
  bool OpenSection(Cursor& in, std::string_view word);
  void Field(Cursor& in, std::string_view word);
  void ModuleField(Cursor& in, std::string_view word);
  void FactsField(Cursor& in, std::string_view word);
  bool FactsPlainField(Cursor& in, std::string_view word);
  void RankField(Cursor& in, std::string_view word);
  void Chunk(Cursor& in);
  void Group(Cursor& in);
  void Rank(Cursor& in);
  void Code(Cursor& in, std::string_view word);
  void Enter(Section section, Cursor& in, std::string_view name);
  void Once(Cursor& in, std::string_view word);
  // Numbered things come as 0, 1, 2, ...: their number is their place.
  void InOrder(Cursor& in, std::string_view prefix, std::string_view what,
               size_t next);

  RankProgram& program() { return module_.programs.back(); }

  Module module_;
  text::SiteTable sites_;
  Section section_ = Section::kStart;
  std::set<std::string, std::less<>> seen_;      // fields of this section
  std::set<std::string, std::less<>> sections_;  // those that come once
};

void TextParser::Line(Cursor& in) {
  const std::string_view word = in.Word();
  if (word.empty()) {
    in.FailExpected("a word");
  } else if (section_ == Section::kStart) {
    Version(in, word);
  } else if (!OpenSection(in, word)) {
    Field(in, word);
  }
  in.ExpectEnd();
}

void TextParser::Version(Cursor& in, std::string_view word) {
  if (word != "ppasm") {
    in.Fail(fmt::format("expected `ppasm {}` on the first line, found {}",
                        kFormatVersion, text::Show(word)));
    return;
  }
  const uint32_t version = in.Number("a format version");
  if (in.ok() && version != kFormatVersion) {
    in.Fail(fmt::format("format version {}; this program reads version {}",
                        version, kFormatVersion));
  }
  section_ = Section::kNone;
}

void TextParser::Enter(Section section, Cursor& in, std::string_view name) {
  section_ = section;
  seen_.clear();
  const bool once = section == Section::kModule || section == Section::kFacts;
  if (once && !sections_.insert(std::string(name)).second) {
    in.Fail(fmt::format("section `{}` comes twice", name));
  }
}

bool TextParser::OpenSection(Cursor& in, std::string_view word) {
  if (word == "module") {
    Enter(Section::kModule, in, word);
  } else if (word == "facts") {
    Enter(Section::kFacts, in, word);
  } else if (word == "group") {
    Enter(Section::kNone, in, word);
    Group(in);
  } else if (word == "site") {
    Enter(Section::kNone, in, word);
    Site site = text::ParseSite(in);
    if (in.ok()) sites_.Add(std::move(site));
  } else if (word == "rank") {
    Enter(Section::kRank, in, word);
    Rank(in);
  } else {
    return false;
  }
  return true;
}

void TextParser::Field(Cursor& in, std::string_view word) {
  switch (section_) {
    case Section::kStart:
    case Section::kNone:
      in.FailUnknown("section", word, kSections);
      return;
    case Section::kModule:
      ModuleField(in, word);
      return;
    case Section::kFacts:
      FactsField(in, word);
      return;
    case Section::kRank:
      RankField(in, word);
      return;
    case Section::kCode:
      Code(in, word);
      return;
  }
}

void TextParser::Once(Cursor& in, std::string_view word) {
  if (!seen_.insert(std::string(word)).second) {
    in.Fail(fmt::format("`{}` comes twice", word));
  }
}

void TextParser::InOrder(Cursor& in, std::string_view prefix,
                         std::string_view what, size_t next) {
  const uint32_t number = in.Prefixed(prefix, what);
  if (in.ok() && number != next) {
    in.Fail(fmt::format("expected {} `{}{}`: they come in order", what, prefix,
                        next));
  }
}

void TextParser::ModuleField(Cursor& in, std::string_view word) {
  const std::array<uint32_t*, kModuleFields.size()> fields = {
      &module_.micro_batches, &module_.stages, &module_.replicas,
      &module_.lanes};
  for (size_t i = 0; i < kModuleFields.size(); ++i) {
    if (word != kModuleFields[i]) continue;
    Once(in, word);
    *fields[i] = in.Number("a number");
    return;
  }
  in.FailUnknown("field of `module`", word, kModuleFields);
}

bool TextParser::FactsPlainField(Cursor& in, std::string_view word) {
#define PP_FACT_TEXT(field)                            \
  if (word == #field) {                                \
    Once(in, word);                                    \
    module_.facts.field = in.QuotedString("a string"); \
    return true;                                       \
  }
#define PP_FACT_NUMBER(field)                  \
  if (word == #field) {                        \
    Once(in, word);                            \
    module_.facts.field = in.Real("a number"); \
    return true;                               \
  }
#include "runtime/bytecode/facts_fields.def"
  return false;
}

void TextParser::FactsField(Cursor& in, std::string_view word) {
  static constexpr std::string_view kFactsFields[] = {
#define PP_FACT_TEXT(field) #field,
#define PP_FACT_NUMBER(field) #field,
#include "runtime/bytecode/facts_fields.def"
      "param", "peak_activations"};
  if (FactsPlainField(in, word)) return;
  if (word == "param") {
    std::string name = in.Name("a parameter's name");
    const int64_t value = in.Signed("a parameter's value");
    module_.facts.params.emplace_back(std::move(name), value);
  } else if (word == "peak_activations") {
    Once(in, word);
    while (in.ok() && !in.AtEnd()) {
      module_.facts.peak_activations.push_back(in.Number("a count"));
    }
  } else {
    in.FailUnknown("fact", word, kFactsFields);
  }
}

void TextParser::Group(Cursor& in) {
  InOrder(in, "g", "group", module_.groups.size());
  const std::string_view kind = in.Word();
  bytecode::Group group;
  const auto* it = std::ranges::find(kGroupKinds, kind);
  if (kind.empty()) {
    in.FailExpected("`replicas` or `tied`");
  } else if (it == kGroupKinds.end()) {
    in.FailUnknown("kind of group", kind, kGroupKinds);
  } else {
    group.kind = static_cast<GroupKind>(it - kGroupKinds.begin());
  }
  group.stage = StageId{in.Prefixed("s", "a stage")};
  while (in.ok() && !in.AtEnd()) {
    group.ranks.push_back(pp::Rank{in.Prefixed("r", "a rank")});
  }
  module_.groups.push_back(std::move(group));
}

void TextParser::Rank(Cursor& in) {
  InOrder(in, "", "rank", module_.programs.size());
  module_.programs.emplace_back();
}

void TextParser::Chunk(Cursor& in) {
  InOrder(in, "c", "chunk", program().chunks.size());
  ChunkInfo chunk{StageId{in.Prefixed("s", "a stage")}, 0};
  if (in.ok() && !in.AtEnd()) {
    in.Expect("replica");
    chunk.replica = in.Number("a replica");
  }
  program().chunks.push_back(chunk);
}

void TextParser::RankField(Cursor& in, std::string_view word) {
  if (word == "chunk") {
    Chunk(in);
  } else if (word == "slots") {
    Once(in, word);
    program().slots = in.Number("a number");
  } else if (word == "stashes") {
    Once(in, word);
    program().stashes = in.Number("a number");
  } else if (word == "code") {
    section_ = Section::kCode;
  } else if (FindOp(word) != nullptr) {
    in.Fail(fmt::format("`{}` before the line `code`", word));
  } else {
    in.FailUnknown("field of `rank`", word, kRankFields);
  }
}

void TextParser::Code(Cursor& in, std::string_view word) {
  RankProgram& p = program();
  p.code.push_back(text::ParseInstr(in, word));
  if (in.ok() && in.Accept(";")) {
    p.debug.resize(p.code.size() - 1);  // those before: made by the compiler
    p.debug.push_back(text::ParseDebug(in, sites_));
  } else if (!p.debug.empty()) {
    p.debug.emplace_back();
  }
}

Status ErrorAt(const std::string& file, size_t line, size_t column,
               std::string_view cause) {
  return InputError(fmt::format("{}:{}:{}: {}", file, line, column, cause));
}

}  // namespace

Result<Module> Parse(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  TextParser parser;
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    Cursor line(text.substr(0, end));
    if (!line.AtEnd()) parser.Line(line);
    if (!line.ok()) {
      return Fail(ErrorAt(file, number, line.error_column(), line.error()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (parser.started()) return parser.Take();
  return Fail(ErrorAt(file, std::max<size_t>(number, 1), 1,
                      fmt::format("expected `ppasm {}`, found no line of text",
                                  kFormatVersion)));
}

}  // namespace pp::bytecode
