// Strings from outside as text that can be shown and read back.
#pragma once

#include <string>
#include <string_view>

namespace pp {

// `text` between double quotes; quotes, backslashes, control characters and
// bytes that are not UTF-8 as \", \\, \n, \t, \xHH.
std::string Quote(std::string_view text);

// Well-formed UTF-8 (no overlong forms, no surrogates).
bool IsUtf8(std::string_view text);

}  // namespace pp
