// An NCCL id as text, and back: what rank 0 tells the others.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace pp::transport::nccl {

std::string ToPlace(std::string_view id);  // hex
// kRankFailed for text that no ToPlace made.
Result<std::string> FromPlace(std::string_view place);

bool IsLoopback(std::string_view address);

}  // namespace pp::transport::nccl
