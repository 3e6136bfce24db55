// How a program finds an engine in a shared library at run time.
//
// `pprun` links no Torch: it opens `libpp_engine_torch.so` only for a model
// that needs it. Such a library defines both functions; the caller compares
// PpEngineAbi() with kEngineAbi before it calls the other one, and owns the
// factory it gets.
#pragma once

#include "runtime/engine/engine.h"

namespace pp::engine {

// Two halves of a program that were built apart must agree on the layout of
// everything in engine.h: count up with each change of it. The compiler's
// version is part, as it decides the layout of the standard library's types.
inline constexpr const char kEngineAbi[] = "pp-engine 4, " __VERSION__;

}  // namespace pp::engine

extern "C" {
const char* PpEngineAbi();                           // kEngineAbi
pp::engine::EngineFactory* PpCreateEngineFactory();  // never null
}
