// Api: what this transport asks of NCCL, with errors as values. NCCL's own is
// in real_api.cpp; tests bring one for the virtual GPU.
//
// Communicators are non-blocking: a call only starts something, and until Ready
// says true nothing else may be done with the communicator. Calls for one
// communicator come from one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/base/status.h"
#include "runtime/device/driver.h"

namespace pp::transport::nccl {

struct CommObject;
using Comm = CommObject*;

class Api {
 public:
  virtual ~Api() = default;

  virtual uint32_t devices() = 0;
  virtual Result<std::string> NewId() = 0;  // bytes
  // Of all ranks that share the id.
  virtual Result<Comm> Init(const std::string& id, uint32_t ranks,
                            uint32_t rank, uint32_t device) = 0;
  // Of the members of `parent` that take part, in the order of their ranks
  // there; null on one that does not. All members call it, in one order. Usable
  // once the parent is Ready.
  virtual Result<Comm> Split(Comm parent, bool takes_part) = 0;
  // Whether what was started is done; its error, also one that came later.
  virtual Result<bool> Ready(Comm comm) = 0;

  // Sends and receives between them start together.
  virtual Status GroupBegin() = 0;
  virtual Status GroupEnd() = 0;
  // `stream` is the device library's own. Ranks are those of the communicator.
  virtual Status Send(Comm comm, const std::byte* data, size_t bytes,
                      uint32_t to, void* stream) = 0;
  virtual Status Recv(Comm comm, std::byte* data, size_t bytes, uint32_t from,
                      void* stream) = 0;

  // Ends what is in flight, on this side, and frees the communicator.
  virtual void Abort(Comm comm) = 0;
  // The orderly end: Finalize, wait for Ready, Destroy.
  virtual Status Finalize(Comm comm) = 0;
  virtual void Destroy(Comm comm) = 0;
};

}  // namespace pp::transport::nccl
