// A picture as Chrome trace JSON, by the writer that measured runs use.
#pragma once

#include <string>

#include "compiler/view/picture.h"

namespace pp::view {

// One process a rank, names `F s0 m3`; transfers on a lane of their
// direction, at both ends. One unit of cost is one millisecond of
// the trace.
std::string ChromeTrace(const Picture& picture);

}  // namespace pp::view
