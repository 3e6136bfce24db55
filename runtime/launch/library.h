// Parts of pprun that live in shared libraries beside it (../lib), opened only
// where a run needs them. They stay open until the process ends.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"
#include "runtime/transport/meeting.h"

namespace pp::launch {

// kMachine: the library is not there, cannot be opened, or was built for
// another version of this program.
Result<std::unique_ptr<engine::EngineFactory>> OpenEngineLibrary(
    const std::string& file);
// Also kMachine where the machine has no device that can be used.
Result<std::shared_ptr<device::Driver>> OpenDeviceLibrary(
    const std::string& file);
Result<std::unique_ptr<transport::ProcessTransport>> OpenTransportLibrary(
    const std::string& file);

}  // namespace pp::launch
