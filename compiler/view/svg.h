// A picture as SVG: one row a rank, time to the right.
#pragma once

#include <string>

#include "compiler/view/picture.h"
#include "runtime/base/status.h"

namespace pp::view {

// Colours of F, B, I, W; chunks of one rank are shades of them.
std::string ColourOf(ir::OpKind kind, uint32_t chunk);

// More boxes than this make a file that no viewer opens.
inline constexpr size_t kMaxSvgBoxes = 200'000;

// kUsage when the picture has more than kMaxSvgBoxes.
Result<std::string> Svg(const Picture& picture);

}  // namespace pp::view
