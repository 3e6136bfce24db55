// Ranks as processes that talk through Gloo, LibTorch's transport for CPUs.
//
// A message travels as two: a header of fixed size with its key and length,
// then the bytes. Both are posted at once; the receiver compares the header
// with what its program expects before it takes the bytes for good. Lanes are
// tags, so the n-th send of a lane meets the n-th receive of that lane. Sums
// are taken by one rank in the order listed, so that all get the same bits.
//
// Gloo has no way to tell peers that a run has failed: Abort ends the waits of
// this process, the launcher carries the cause to the others.
#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/meeting.h"

namespace pp::transport::gloo {

std::unique_ptr<ProcessTransport> CreateProcessTransport();

// All ranks in this process, by threads: for tests.
Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(uint32_t ranks);

}  // namespace pp::transport::gloo
