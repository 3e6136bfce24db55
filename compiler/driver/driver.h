// ppc as a function: command line in, exit status out.
#pragma once

#include <ostream>

namespace pp::driver {

// 0 done · 1 the input is at fault · 2 wrong usage · 3 the machine is.
// Results go to `out`, diagnostics and talk to `err`.
int Main(int argc, const char* const* argv, std::ostream& out,
         std::ostream& err, bool colour_out, bool colour_err);

}  // namespace pp::driver
