// T: all events of a schedule in one order that every rank follows.
#pragma once

#include <cstdint>
#include <vector>

namespace pp::lower {

enum class EventKind : uint8_t {
  kCompute,   // id = index in the program of `rank`
  kTransfer,  // id = TensorId; send and receive start as one event
  kSent,      // id = TensorId; the transfer has ended, seen by its sender
};

// A transfer's place in an exchange that starts as one group.
enum class GroupMark : uint8_t { kNone, kFirst, kLast };

// 8 bytes: there may be several 10^8 of them.
struct Event {
  uint32_t id = 0;
  uint16_t rank = 0;  // kCompute: its rank. Else the sender's
  EventKind kind{};
  GroupMark group = GroupMark::kNone;
};
static_assert(sizeof(Event) == 8);

}  // namespace pp::lower
