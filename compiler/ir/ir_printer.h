// Text form of an expanded schedule: one line per rank,
//   r0: F@0 F@1 B@0 B@1        where every rank holds one chunk
//   r0: F[0]@0 F[1]@0 ...      where any rank holds several
//   r0: F[0]@1&B[1]@0 ...  pairs that are run at once
// Stable: the same schedule always gives the same bytes. Ends with a newline.
#pragma once

#include <string>

#include "compiler/ir/schedule.h"

namespace pp::ir {

std::string Print(const Schedule& schedule);

}  // namespace pp::ir
