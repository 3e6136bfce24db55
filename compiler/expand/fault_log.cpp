#include "compiler/expand/fault_log.h"

#include <fmt/format.h>

#include <utility>

namespace pp::expand {
namespace {

constexpr size_t kMaxRuns = 8;

// "rank 3", "ranks 0..3".
std::string PrintRanks(const std::vector<uint32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                     PrintSet(ranks));
}

}  // namespace

std::string PrintSet(const std::vector<uint32_t>& numbers) {
  std::string text;
  size_t runs = 0;
  for (size_t i = 0; i < numbers.size();) {
    if (runs++ == kMaxRuns) return text + ", ...";
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", numbers[i]);
    if (end - i == 2) text += fmt::format(", {}", numbers[i + 1]);
    if (end - i > 2) text += fmt::format("..{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

bool FaultLog::Repeats(diag::Code code, source::Span span, uint32_t rank) {
  auto found = index_.find({code, span.file, span.begin, span.end});
  if (found == index_.end()) return false;
  Entry& entry = entries_[found->second];
  ++entry.count;
  if (entry.ranks.back() != rank) entry.ranks.push_back(rank);
  return true;
}

void FaultLog::Add(Fault fault, uint32_t rank) {
  if (Repeats(fault.code, fault.span, rank)) return;
  index_[{fault.code, fault.span.file, fault.span.begin, fault.span.end}] =
      entries_.size();
  entries_.push_back({std::move(fault), {rank}, 1});
}

void FaultLog::EmitTo(diag::Emitter& diag, const std::string& point) const {
  for (const Entry& entry : entries_) {
    const Fault& fault = entry.fault;
    auto builder = diag.Emit(fault.code, fault.span, fault.message);
    for (const diag::Note& note : fault.notes) {
      builder.Note(note.where, note.message);
    }
    std::vector<uint32_t> others(entry.ranks.begin() + 1, entry.ranks.end());
    if (!others.empty()) {
      builder.Note({}, "the same on " + PrintRanks(others));
    } else if (entry.count > 1) {
      builder.Note({}, fmt::format("{} more like this on the same rank",
                                   entry.count - 1));
    }
    builder.Note({}, "with " + point);
    builder.Help(fault.help);
  }
}

}  // namespace pp::expand
