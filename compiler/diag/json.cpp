// RenderJson. Keys stay in the order in which they are written.
#include "nlohmann/json.hpp"

#include <map>

#include "compiler/diag/renderer.h"

namespace pp::diag {
namespace {

using Json = nlohmann::ordered_json;

void AddPlace(const Location& where, const source::SourceManager& sources,
              Json& out) {
  const Place place = Resolve(where, sources);
  const bool has_file = !place.file.empty();
  const bool has_line = has_file && place.line > 0;
  out["file"] = has_file ? Json(place.file) : Json();
  out["line"] = has_line ? Json(place.line) : Json();
  out["column"] = has_line ? Json(place.column) : Json();
}

Json ToJson(const Note& note, const source::SourceManager& sources) {
  Json out;
  out["message"] = note.message;
  AddPlace(note.where, sources, out);
  return out;
}

Json ToJson(const Diagnostic& d, const source::SourceManager& sources) {
  Json out;
  out["code"] = Info(d.code).id;
  out["severity"] = SeverityName(d.severity);
  out["message"] = d.message;
  AddPlace(d.where, sources, out);
  out["notes"] = Json::array();
  for (const Note& note : d.notes)
    out["notes"].push_back(ToJson(note, sources));
  out["help"] = d.help.empty() ? Json() : Json(d.help);
  return out;
}

}  // namespace

std::string RenderJson(const Emitter& emitter,
                       const source::SourceManager& sources) {
  Json all = Json::array();
  std::map<Code, size_t> last;
  for (const Diagnostic* d : emitter.Sorted()) {
    last[d->code] = all.size();
    all.push_back(ToJson(*d, sources));
  }
  for (const auto& [code, index] : last) {
    if (emitter.MoreLike(code) > 0) all[index]["more"] = emitter.MoreLike(code);
  }
  // Bytes that are not UTF-8 are replaced: file names may have them.
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pp::diag
