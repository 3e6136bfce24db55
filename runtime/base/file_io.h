// Whole files: read with a clear error, write so that a reader never sees half.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace pp {

// All bytes of a file (or pipe). The message names path and reason. kInput: it
// does not exist or is a directory; kMachine: it cannot be read, or is too
// large (4 GiB; 256 MiB where the size is not known before).
Result<std::vector<std::byte>> ReadFile(const std::string& path);
Result<std::string> ReadTextFile(const std::string& path);

// Written aside in the same folder, synced, renamed over `path`: after a
// failure (kMachine) the old file is as it was. A path that is not a regular
// file (/dev/stdout, a pipe) is written to directly; a link is followed.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes);
Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace pp
