#include "compiler/driver/driver.h"

#include <fmt/format.h>

#include "compiler/diag/dot.h"
#include "compiler/diag/renderer.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/options.h"
#include "compiler/driver/session.h"
#include "runtime/base/file_io.h"

namespace pp::driver {
namespace {

struct Command {
  std::string_view name;
  Status (*run)(Session&);
};

constexpr Command kCommands[] = {
#define PP_COMMAND(Function, name, help) {name, &Run##Function},
#include "compiler/driver/commands.def"
};

Status RunCommand(Session& session) {
  for (const Command& command : kCommands) {
    if (command.name == session.options.command) return command.run(session);
  }
  return UsageError("no command");  // unreachable: the parser knows them all
}

// --dot: the circle that was found, if one was.
Status DrawCircle(const Session& session) {
  const std::string& path = session.options.dot;
  for (const diag::Diagnostic* diagnostic : session.diag.Sorted()) {
    const std::string dot = diag::CircleDot(*diagnostic, session.sources);
    if (!dot.empty()) return WriteTextFile(path, dot);
  }
  session.err << "ppc: note: nothing waits in a circle; " << path
              << " is not written\n";
  return OkStatus();
}

// Anything but a diagnosed fault is one plain line; as JSON it is a
// diagnostic too, so that a reader of JSON sees every failure.
void Tell(Session& session, const Status& status) {
  if (!status.ok() && !IsDiagnosed(status)) {
    if (session.options.json_diagnostics) {
      session.diag.Emit(diag::Code::kFailed, {}, status.message());
    } else {
      session.err << "ppc: error: " << status.message() << "\n";
    }
  }
  session.err << (session.options.json_diagnostics
                      ? diag::RenderJson(session.diag, session.sources)
                      : diag::Render(session.diag, session.sources,
                                     session.colour_err));
}

}  // namespace

int Main(int argc, const char* const* argv, std::ostream& out,
         std::ostream& err, bool colour_out, bool colour_err) {
  Result<ParsedCommandLine> parsed = ParseCommandLine(argc, argv);
  if (!parsed) {
    err << "ppc: error: " << parsed.error().message() << "\n";
    return ExitCode(parsed.error());
  }
  if (parsed->print) {
    out << *parsed->print;
    return 0;
  }
  Session session{
      std::move(parsed->options), out, err, colour_out, colour_err, {}, {}};
  Status status = RunCommand(session);
  if (!session.options.dot.empty()) {
    // What could not be drawn matters only where nothing else is wrong.
    const Status drawn = DrawCircle(session);
    if (status.ok() || IsDiagnosed(status)) {
      if (!drawn.ok()) status = drawn;
    }
  }
  Tell(session, status);
  if (status.ok() && session.diag.has_errors()) return 1;
  return ExitCode(status);
}

}  // namespace pp::driver
