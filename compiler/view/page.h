// A picture as one HTML file that needs nothing else: zoom, hover, memory
// under the timeline.
#pragma once

#include <string>

#include "compiler/view/picture.h"

namespace pp::view {

std::string Page(const Picture& picture);

}  // namespace pp::view
