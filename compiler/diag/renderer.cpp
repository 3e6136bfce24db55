#include "compiler/diag/renderer.h"

#include "compiler/diag/snippet.h"
#include "fmt/format.h"

namespace pp::diag {
namespace {

std::string_view ColourOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "\x1b[1;31m";
    case Severity::kWarning:
      return "\x1b[1;35m";
    case Severity::kNote:
      return "\x1b[1;36m";
  }
  return "";
}

std::string Coloured(std::string_view text, std::string_view colour, bool on) {
  return on ? fmt::format("{}{}\x1b[0m", colour, text) : std::string(text);
}

std::string Prefix(const Place& place) {
  if (place.file.empty()) return "";
  if (place.line == 0) return place.file + ": ";
  return fmt::format("{}:{}:{}: ", place.file, place.line, place.column);
}

std::string Headline(const Location& where, Severity severity,
                     std::string_view message,
                     const source::SourceManager& sources, bool colour) {
  return Prefix(Resolve(where, sources)) +
         Coloured(fmt::format("{}: ", SeverityName(severity)),
                  ColourOf(severity), colour) +
         std::string(message);
}

std::string RenderNote(const Note& note, const source::SourceManager& sources,
                       bool colour) {
  return Headline(note.where, Severity::kNote, note.message, sources, colour) +
         "\n" + Snippet(note.where.span, sources, colour);
}

bool IsLastOfItsCode(const std::vector<const Diagnostic*>& all, size_t index) {
  for (size_t i = index + 1; i < all.size(); ++i) {
    if (all[i]->code == all[index]->code) return false;
  }
  return true;
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

Place Resolve(const Location& where, const source::SourceManager& sources) {
  if (!where.span.valid()) return {where.file, where.line, where.column};
  const auto at = sources.Resolve(where.span.file, where.span.begin);
  return {sources.Name(where.span.file), at.line, at.column};
}

std::string Render(const Diagnostic& diagnostic,
                   const source::SourceManager& sources, bool colour) {
  std::string text = Headline(diagnostic.where, diagnostic.severity,
                              fmt::format("{} [{}]", diagnostic.message,
                                          Info(diagnostic.code).id),
                              sources, colour) +
                     "\n" + Snippet(diagnostic.where.span, sources, colour);
  for (const Note& note : diagnostic.notes) {
    text += RenderNote(note, sources, colour);
  }
  if (!diagnostic.help.empty()) {
    text += Coloured("help: ", ColourOf(Severity::kNote), colour) +
            diagnostic.help + "\n";
  }
  return text;
}

std::string Render(const Emitter& emitter, const source::SourceManager& sources,
                   bool colour) {
  const auto sorted = emitter.Sorted();
  std::string text;
  for (size_t i = 0; i < sorted.size(); ++i) {
    text += Render(*sorted[i], sources, colour);
    const size_t more = emitter.MoreLike(sorted[i]->code);
    if (more > 0 && IsLastOfItsCode(sorted, i)) {
      text += fmt::format("note: {} more like this [{}]\n", more,
                          Info(sorted[i]->code).id);
    }
  }
  return text;
}

}  // namespace pp::diag
