// A picture as one HTML file that needs nothing else: zoom, hover, memory
// under the timeline.
#pragma once

#include <string>

#include "compiler/view/picture.h"
#include "runtime/base/status.h"

namespace pp::view {

// More boxes than this take a browser minutes.
inline constexpr size_t kMaxPageBoxes = 2'000'000;

// kUsage when the picture has more than kMaxPageBoxes.
Result<std::string> Page(const Picture& picture);

}  // namespace pp::view
