#include "tests/meta/layering.h"

#include <algorithm>
#include <sstream>

namespace pp::meta {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

bool IsWithin(const std::string& folder, const std::string& outer) {
  return folder == outer || StartsWith(folder, outer + "/");
}

// The nearest folder, upwards, that the table has; empty if none.
std::string LayerOf(const Layering& layering, std::string folder) {
  while (!folder.empty() && layering.layers.count(folder) == 0) {
    folder = FolderOf(folder);
  }
  return folder;
}

// `#include "a/b.h"` and `#include <a/b.h>` -> a/b.h; else empty.
std::string IncludeOf(const std::string& line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == line.npos || line[hash] != '#') return "";
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == line.npos || line.compare(word, 7, "include") != 0) return "";
  const size_t open = line.find_first_of("\"<", word + 7);
  if (open == line.npos) return "";
  const size_t close = line.find_first_of("\">", open + 1);
  if (close == line.npos) return "";
  return line.substr(open + 1, close - open - 1);
}

bool IsOurs(const std::string& path) {
  return StartsWith(path, "compiler/") || StartsWith(path, "runtime/");
}

// An entry is a layer, one header of a layer, or a folder above layers that is
// none itself (`compiler`). A layer does not stand for the layers below it.
bool Allows(const Layering& layering, const std::string& entry,
            const std::string& to, const std::string& include) {
  return entry == to || entry == include ||
         (layering.layers.count(entry) == 0 && IsWithin(to, entry));
}

std::string LayerFault(const Layering& layering, const std::string& path,
                       const std::string& include) {
  if (!IsOurs(path) || !IsOurs(include)) return "";
  const std::string from = LayerOf(layering, FolderOf(path));
  const std::string to = LayerOf(layering, FolderOf(include));
  if (from.empty()) return FolderOf(path) + " is not in layers.txt";
  if (to.empty()) return FolderOf(include) + " is not in layers.txt";
  const auto& allowed = layering.layers.at(from);
  const bool fine =
      from == to ||
      std::any_of(allowed.begin(), allowed.end(), [&](const auto& entry) {
        return Allows(layering, entry, to, include);
      });
  return fine ? "" : from + " may not include " + to;
}

std::string BorderFault(const Layering& layering, const std::string& path,
                        const std::string& include) {
  for (const auto& [prefix, folders] : layering.only) {
    if (!StartsWith(include, prefix)) continue;
    const bool inside =
        std::any_of(folders.begin(), folders.end(),
                    [&](const auto& f) { return IsWithin(path, f); });
    if (!inside) return "`" + include + "` is seen outside its border";
  }
  return "";
}

std::string LineFault(const Layering& layering, const std::string& path,
                      const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  if (EndsWith(path, ".h") && first != line.npos &&
      StartsWith(std::string_view(line).substr(first), "using namespace")) {
    return "`using namespace` in a header";
  }
  const std::string include = IncludeOf(line);
  if (include.empty()) return "";
  if (EndsWith(include, ".cpp")) return "a .cpp is included";
  const std::string fault = LayerFault(layering, path, include);
  return fault.empty() ? BorderFault(layering, path, include) : fault;
}

void ParseLine(const std::string& line, Layering& layering) {
  std::istringstream words(line);
  std::string kind;
  std::string name;
  if (!(words >> kind) || kind[0] == '#') return;
  words >> name;
  if (name.empty() || name.back() != ':' ||
      (kind != "layer" && kind != "only")) {
    layering.errors.push_back(line);
    return;
  }
  name.pop_back();
  // A layer without words may include nothing but itself.
  if (kind == "layer") layering.layers[name];
  for (std::string folder; words >> folder;) {
    if (kind == "layer") {
      layering.layers[name].insert(folder);
    } else {
      layering.only[name].push_back(folder);
    }
  }
}

// Depth-first from a folder; `path` is the way here. A folder named as a whole
// ("compiler") stands for all below it, not for an edge of its own.
void Walk(const Layering& layering, const std::string& folder,
          std::vector<std::string>& path, std::set<std::string>& done,
          std::vector<std::string>& cycles) {
  const auto seen = std::find(path.begin(), path.end(), folder);
  if (seen != path.end()) {
    std::string text;
    for (auto it = seen; it != path.end(); ++it) text += *it + " -> ";
    cycles.push_back(text + folder);
    return;
  }
  const auto found = layering.layers.find(folder);
  if (found == layering.layers.end() || !done.insert(folder).second) return;
  path.push_back(folder);
  for (const std::string& next : found->second) {
    Walk(layering, next, path, done, cycles);
  }
  path.pop_back();
}

}  // namespace

Layering ParseLayering(std::string_view text) {
  Layering layering;
  for (const std::string& line : Lines(text)) ParseLine(line, layering);
  return layering;
}

std::vector<std::string> TableCycles(const Layering& layering) {
  std::vector<std::string> cycles;
  std::set<std::string> done;
  for (const auto& [folder, allowed] : layering.layers) {
    std::vector<std::string> path;
    Walk(layering, folder, path, done, cycles);
  }
  return cycles;
}

std::vector<std::string> Violations(const Layering& layering,
                                    const std::vector<File>& files) {
  std::vector<std::string> faults;
  for (const File& file : files) {
    size_t number = 0;
    for (const std::string& line : Lines(file.text)) {
      ++number;
      const std::string fault = LineFault(layering, file.path, line);
      if (!fault.empty()) {
        faults.push_back(file.path + ":" + std::to_string(number) + ": " +
                         fault);
      }
    }
  }
  return faults;
}

}  // namespace pp::meta
