#include "compiler/diag/suggest.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace pp::diag {

std::string_view Nearest(std::string_view word,
                         llvm::ArrayRef<std::string_view> candidates) {
  const std::string folded = llvm::StringRef(word.data(), word.size()).lower();
  const size_t limit = std::max<size_t>(1, (word.size() + 2) / 3);
  std::string_view best;
  size_t best_distance = limit + 1;
  for (std::string_view candidate : candidates) {
    const std::string other =
        llvm::StringRef(candidate.data(), candidate.size()).lower();
    // A name without one letter in common is no near miss ("x" for "y").
    const size_t longest = std::max(folded.size(), other.size());
    const size_t distance = llvm::StringRef(folded).edit_distance(
        other, /*AllowReplacements=*/true,
        /*MaxEditDistance=*/static_cast<unsigned>(limit));
    if (distance < best_distance && distance < longest) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word,
                       llvm::ArrayRef<std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest);
}

}  // namespace pp::diag
