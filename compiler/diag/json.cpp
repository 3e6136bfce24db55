// RenderJson. LLVM's writer keeps the order in which keys are written.
#include "llvm/Support/JSON.h"

#include "compiler/diag/renderer.h"
#include "llvm/Support/raw_ostream.h"

namespace pp::diag {
namespace {

llvm::json::Value Text(std::string_view text) {
  return llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size()));
}

void WritePlace(const Location& where, const source::SourceManager& sources,
                llvm::json::OStream& out) {
  const Place place = Resolve(where, sources);
  const bool has_file = !place.file.empty();
  const bool has_line = has_file && place.line > 0;
  out.attribute("file", has_file ? Text(place.file) : nullptr);
  out.attribute("line",
                has_line ? llvm::json::Value(int64_t{place.line}) : nullptr);
  out.attribute("column",
                has_line ? llvm::json::Value(int64_t{place.column}) : nullptr);
}

void WriteNote(const Note& note, const source::SourceManager& sources,
               llvm::json::OStream& out) {
  out.object([&] {
    out.attribute("message", Text(note.message));
    WritePlace(note.where, sources, out);
  });
}

void WriteDiagnostic(const Diagnostic& d, size_t more,
                     const source::SourceManager& sources,
                     llvm::json::OStream& out) {
  out.object([&] {
    out.attribute("code", Text(Info(d.code).id));
    out.attribute("severity", Text(SeverityName(d.severity)));
    out.attribute("message", Text(d.message));
    WritePlace(d.where, sources, out);
    out.attributeArray("notes", [&] {
      for (const Note& note : d.notes) WriteNote(note, sources, out);
    });
    out.attribute("help", d.help.empty() ? nullptr : Text(d.help));
    if (more > 0) out.attribute("more", static_cast<int64_t>(more));
  });
}

}  // namespace

std::string RenderJson(const Emitter& emitter,
                       const source::SourceManager& sources) {
  const auto sorted = emitter.Sorted();
  std::map<Code, const Diagnostic*> last;
  for (const Diagnostic* d : sorted) last[d->code] = d;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream out(stream);
  out.array([&] {
    for (const Diagnostic* d : sorted) {
      const size_t more = last[d->code] == d ? emitter.MoreLike(d->code) : 0;
      WriteDiagnostic(*d, more, sources, out);
    }
  });
  stream << '\n';
  return stream.str();
}

}  // namespace pp::diag
