// ppc: the compiler's command line.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "compiler/driver/driver.h"

namespace {
bool WantsColour(int fd) {
  return isatty(fd) != 0 && std::getenv("NO_COLOR") == nullptr;
}
}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  int status =
      pp::driver::Main(argc, argv, std::cout, std::cerr,
                       WantsColour(STDOUT_FILENO), WantsColour(STDERR_FILENO));
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "ppc: cannot write to standard output\n";
    return 3;
  }
  return status;
}
