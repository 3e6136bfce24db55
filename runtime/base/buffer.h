// Buffer: contiguous bytes of one boundary tensor, with whatever owns them.
//
// Shared between engine and transport so that neither knows the other. On one
// machine a transport hands a Buffer over without copying: the receiver then
// shares the sender's bytes, and the last owner frees them.
#pragma once

#include <cstddef>
#include <memory>

namespace pp {

struct Buffer {
  std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<void> owner;  // keeps `data` alive; the engine's own type

  bool empty() const { return owner == nullptr && data == nullptr; }
};

}  // namespace pp
