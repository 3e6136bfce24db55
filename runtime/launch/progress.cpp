#include "runtime/launch/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pp::launch {
namespace {

constexpr uint64_t kPlainLines = 20;

std::string TimeText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::ceil(seconds));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                       whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::FILE* out, bool terminal, uint64_t steps)
    : out_(out),
      terminal_(terminal),
      steps_(steps),
      every_((steps + kPlainLines - 1) / kPlainLines) {}

std::string Progress::Line(const StepRecord& step, uint64_t steps,
                           double seconds_per_step) {
  const uint64_t done = step.step + 1;
  std::string line = fmt::format("step {}/{}  loss {:.6f}  {:.4f} s/step", done,
                                 steps, step.loss, seconds_per_step);
  if (done < steps) {
    line += fmt::format(
        "  {} left",
        TimeText(seconds_per_step * static_cast<double>(steps - done)));
  }
  return line;
}

void Progress::Show(const StepRecord& step) {
  seconds_ += step.seconds;
  const uint64_t done = step.step + 1;
  if (!terminal_ && done != 1 && done != steps_ && done % every_ != 0) return;
  const std::string line =
      Line(step, steps_, seconds_ / static_cast<double>(done));
  if (!terminal_) {
    fmt::print(out_, "{}\n", line);
  } else {  // what is left of a longer line is blanked
    fmt::print(out_, "\r{:<{}}", line, width_);
    width_ = line.size();
  }
  std::fflush(out_);
}

void Progress::End() {
  if (terminal_ && width_ > 0) fmt::print(out_, "\n");
  width_ = 0;
}

}  // namespace pp::launch
