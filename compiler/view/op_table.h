// A simulated and a measured step side by side, operation by operation.
#pragma once

#include <string>

#include "compiler/view/picture.h"

namespace pp::view {

// One line for each kind of operation and stage, with the median and the
// quartiles of what was measured, then one for each rank and the whole step.
// `picture` has measured rows.
std::string OpTable(const Picture& picture);

}  // namespace pp::view
