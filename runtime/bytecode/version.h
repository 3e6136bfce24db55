// The one place where the version of the bytecode format is written.
#pragma once

#include <cstdint>

namespace pp::bytecode {
inline constexpr uint32_t kFormatVersion = 1;
}
