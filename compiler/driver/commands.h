// The sub-commands. Each prints its result to session.out; on failure
// session.diag holds the diagnostics (then it returns Diagnosed()) or the
// status says what is wrong.
#pragma once

#include "compiler/driver/session.h"

namespace pp::driver {

#define PP_COMMAND(Function, name, help) Status Run##Function(Session& session);
#include "compiler/driver/commands.def"

}  // namespace pp::driver
