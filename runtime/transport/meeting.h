// How ranks in different processes come to a transport: rank 0 opens a
// meeting place, its address goes to the others by the launcher's own
// connection, all join.
//
// A transport between processes lives in a shared library that pprun opens
// when it is asked for, so that a run without it pays for none of its parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/bytecode/module.h"
#include "runtime/transport/transport.h"

namespace pp::transport {

struct Meeting {
  Rank rank;
  uint32_t ranks = 0;
  uint32_t lanes = 0;       // of the program
  uint32_t local_rank = 0;  // on its host: picks the GPU
  std::string address;      // of this process, as its peers reach it
  std::string place;        // from rank 0's Open
  Deadline deadline;        // for all to have come
  // The program, where the transport wants to know its edges beforehand; null:
  // any rank may talk to any other on every lane.
  const bytecode::Module* module = nullptr;
};

class ProcessTransport {
 public:
  virtual ~ProcessTransport() = default;
  // On rank 0, before anybody joins. Listens on `address` alone. The place is
  // text of a few kilobytes at most.
  virtual Result<std::string> Open(const std::string& address,
                                   const Meeting& meeting) = 0;
  // On every rank. Returns when all have come, or kRankFailed at the deadline.
  virtual Result<std::unique_ptr<Transport>> Join(const Meeting& meeting) = 0;
};

// As for engines: both halves must agree on the layout of what they share.
inline constexpr const char kTransportAbi[] = "pp-transport 2, " __VERSION__;

}  // namespace pp::transport

extern "C" {
const char* PpTransportAbi();                          // kTransportAbi
pp::transport::ProcessTransport* PpCreateTransport();  // never null
}
