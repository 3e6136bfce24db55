#include "runtime/base/edit_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pp {

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t difference =
      a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  // Rows i-2, i-1 and i of the table: distance of a[0..i) and b[0..j).
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    // Later rows grow from this one and the one above (a swap skips a row).
    const size_t least = std::min(*std::ranges::min_element(row),
                                  *std::ranges::min_element(above));
    if (least > limit) return limit + 1;
  }
  return std::min(row[b.size()], limit + 1);
}

std::optional<std::string_view> DidYouMean(
    std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kLongestWord = 256;  // longer ones are no typing errors
  if (word.size() > kLongestWord) return std::nullopt;
  size_t limit = std::max<size_t>(1, word.size() / 3);
  std::optional<std::string_view> best;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(word, candidate, limit);
    // The limit sinks below the best found, so the first of equals stays.
    if (distance > limit || distance >= std::max(word.size(), size_t{1})) {
      continue;
    }
    best = candidate;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return best;
}

std::string Suggestion(std::string_view word,
                       std::span<const std::string_view> candidates) {
  const auto best = DidYouMean(word, candidates);
  return best ? fmt::format(", did you mean `{}`?", *best) : std::string();
}

}  // namespace pp
