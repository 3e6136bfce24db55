// Near misses: which name of a closed set did somebody mean?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pp {

// Insertions, deletions, replacements and swaps of neighbours that turn `a`
// into `b` (optimal string alignment); `limit` + 1 when it is more than that.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// The nearest candidate, when near enough to be meant: a third of the word's
// letters at most, one at least. Ties: the first in `candidates`.
std::optional<std::string_view> DidYouMean(
    std::string_view word, std::span<const std::string_view> candidates);

// ", did you mean `forward`?" or "".
std::string Suggestion(std::string_view word,
                       std::span<const std::string_view> candidates);

}  // namespace pp
