// SIGINT and SIGTERM end a run in order: the report so far is written. A second
// one ends the process at once. Exit status is never 0 after a signal.
#pragma once

namespace pp::launch {

// Installs the handlers; call once, before threads are started.
void CatchSignals();

// "SIGINT", "SIGTERM", or null while none has come.
const char* CaughtSignal();

}  // namespace pp::launch
