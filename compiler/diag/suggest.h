// "did you mean": the nearest of a set of names.
#pragma once

#include <string>
#include <string_view>

#include "llvm/ADT/ArrayRef.h"

namespace pp::diag {

// The candidate with the least edit distance, or empty when none is near
// enough (a third of the length of `word`, rounded up). Letter case counts
// for nothing; of equals, the first wins.
std::string_view Nearest(std::string_view word,
                         llvm::ArrayRef<std::string_view> candidates);

// "did you mean `steady`?", or empty.
std::string DidYouMean(std::string_view word,
                       llvm::ArrayRef<std::string_view> candidates);

}  // namespace pp::diag
