#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "compiler/analysis/simulate.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/report.h"
#include "compiler/driver/timeline.h"
#include "compiler/view/chrome.h"
#include "compiler/view/op_table.h"
#include "compiler/view/page.h"
#include "compiler/view/svg.h"
#include "compiler/view/trace_file.h"
#include "runtime/base/file_io.h"

namespace pp::driver {
namespace {

size_t TerminalColumns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const char* columns = std::getenv("COLUMNS");
  int value = columns == nullptr ? 0 : std::atoi(columns);
  return value > 0 ? static_cast<size_t>(value) : 120;
}

// What the name of -o asks for.
struct PictureFormat {
  const char* suffix;
  Result<std::string> (*draw)(const view::Picture&);
};
constexpr PictureFormat kPictureFormats[] = {
    {".svg", &view::Svg},
    {".html", &view::Page},
    {".json", [](const view::Picture& p) -> Result<std::string> {
       return view::ChromeTrace(p);
     }}};

// nullptr: the terminal, which has the timeline, or, beside a measured run,
// the times of both.
Result<const PictureFormat*> FormatOf(const Options& options) {
  const std::string& path = options.output;
  for (const PictureFormat& format : kPictureFormats) {
    if (!EndsWith(path, format.suffix)) continue;
    if (!options.measured.empty() && EndsWith(path, ".json")) {
      return Fail(UsageError(
          "--measured: laid over in .svg and .html; without -o, a table"));
    }
    return &format;
  }
  if (!path.empty()) {
    return Fail(UsageError(fmt::format(
        "{}: show writes .svg, .html and Chrome traces (.json), or, without "
        "-o, to the terminal",
        path)));
  }
  return nullptr;
}

Result<view::Picture> Draw(const Options& options,
                           const view::PictureInput& input) {
  view::Picture picture = view::MakePicture(input, Title(input.schedule));
  if (!options.measured.empty()) {
    PP_ASSIGN_OR_RETURN(std::string trace, ReadTextFile(options.measured));
    PP_RETURN_IF_ERROR(
        view::AddMeasured(trace, options.measured, options.step, &picture));
  }
  return picture;
}

Status WritePicture(Session& session, const PictureFormat& format,
                    const view::Picture& picture) {
  const std::string& path = session.options.output;
  PP_ASSIGN_OR_RETURN(std::string text, format.draw(picture));
  PP_RETURN_IF_ERROR(WriteTextFile(path, text));
  session.err << fmt::format("wrote {}\n", path);
  return OkStatus();
}

}  // namespace

Status RunShow(Session& session) {
  const Options& options = session.options;
  PP_ASSIGN_OR_RETURN(const PictureFormat* format, FormatOf(options));
  PP_ASSIGN_OR_RETURN(Computation computation, LoadComputation(session));
  const ir::Schedule& schedule = computation.schedule;
  const ir::CostModel& costs = computation.models.costs;
  analysis::Timeline timeline;
  ir::Metrics metrics = analysis::Simulate(schedule, costs, &timeline);
  if (format != nullptr || !options.measured.empty()) {
    const auto& memory = computation.models.memory;
    PP_ASSIGN_OR_RETURN(view::Picture picture,
                        Draw(options, {schedule, timeline, costs, metrics,
                                       memory ? &*memory : nullptr,
                                       computation.memory, session.sources}));
    if (format != nullptr) return WritePicture(session, *format, picture);
    session.out << view::OpTable(picture);
    return OkStatus();
  }
  session.out << fmt::format("{}  (costs {})\n", Title(schedule),
                             ir::Print(costs))
              << TerminalTimeline(schedule, timeline, costs,
                                  {session.colour_out, TerminalColumns()})
              << fmt::format("makespan {}, idle {:.2f} % of P x makespan\n",
                             ir::PrintTicks(metrics.makespan),
                             100 * metrics.bubble_fraction);
  return OkStatus();
}

}  // namespace pp::driver
