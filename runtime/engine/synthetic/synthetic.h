// The synthetic engine: work of a given duration and size, no mathematics.
//
// An operation sleeps until its time is over, so that P ranks on two cores
// show true pipeline timing. The data flow is real: every message carries what
// it is, and an input that is not the one the operation needs is an error.
// Options are in options.h. Losses are the same for every P, M and schedule.
#pragma once

#include <memory>

#include "runtime/engine/engine.h"

namespace pp::engine::synthetic {

// The module given to Prepare must outlive the engines.
std::unique_ptr<EngineFactory> CreateFactory();

}  // namespace pp::engine::synthetic
