// One line that is kept up to date on a terminal; plain lines elsewhere.
#pragma once

#include <cstdio>

#include "runtime/launch/run.h"

namespace pp::launch {

class Progress {
 public:
  // `out` is where talk goes (standard error). On a terminal the line is
  // rewritten each step; elsewhere about twenty steps get a line.
  Progress(std::FILE* out, bool terminal, uint64_t steps);

  void Show(const StepRecord& step);
  void End();  // leaves the line; call before anything else is printed

  // "step 12/100  loss 3.1416  0.123 s/step  1:05 left".
  static std::string Line(const StepRecord& step, uint64_t steps,
                          double seconds_per_step);

 private:
  std::FILE* out_;
  bool terminal_;
  uint64_t steps_;
  uint64_t every_;
  size_t width_ = 0;  // of the line on the terminal
  double seconds_ = 0;
};

}  // namespace pp::launch
