#include "compiler/diag/dot.h"

#include <map>
#include <vector>

#include "compiler/diag/renderer.h"
#include "fmt/format.h"

namespace pp::diag {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '`') continue;  // the code's marks in a message
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string Label(const Waiting& waiting,
                  const source::SourceManager& sources) {
  const Place place = Resolve(waiting.where, sources);
  if (place.file.empty() || place.line == 0) return waiting.what;
  return fmt::format("{}\n{}:{}", waiting.what, place.file, place.line);
}

// Places by rank, each once, numbered as they come.
class Boxes {
 public:
  size_t Number(const Waiting& waiting, const source::SourceManager& sources) {
    auto& of_rank = by_rank_[waiting.rank];
    const std::string label = Label(waiting, sources);
    for (const auto& [number, other] : of_rank) {
      if (other == label) return number;
    }
    of_rank.emplace_back(count_, label);
    return count_++;
  }

  std::string Frames() const {
    std::string text;
    for (const auto& [rank, boxes] : by_rank_) {
      text += fmt::format(
          "  subgraph cluster_{0} {{\n    label=\"rank {0}\";\n", rank);
      for (const auto& [number, label] : boxes) {
        text += fmt::format("    n{} [label={}];\n", number, Quoted(label));
      }
      text += "  }\n";
    }
    return text;
  }

 private:
  std::map<uint32_t, std::vector<std::pair<size_t, std::string>>> by_rank_;
  size_t count_ = 0;
};

}  // namespace

std::string CircleDot(const Diagnostic& diagnostic,
                      const source::SourceManager& sources) {
  if (diagnostic.circle.empty()) return {};
  Boxes boxes;
  std::string arrows;
  for (const CircleEdge& edge : diagnostic.circle) {
    const size_t from = boxes.Number(edge.from, sources);
    const size_t to = boxes.Number(edge.to, sources);
    arrows +=
        fmt::format("  n{} -> n{} [label={}];\n", from, to, Quoted(edge.why));
  }
  return fmt::format(
      "digraph circle {{\n  // an arrow goes from what waits to what it waits "
      "for\n  label={};\n  node [shape=box];\n{}{}}}\n",
      Quoted(diagnostic.message), boxes.Frames(), arrows);
}

}  // namespace pp::diag
