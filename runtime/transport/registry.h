// The table of transports, made from transports.def.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/transport/transport.h"

namespace pp::transport {

struct TransportRow {
  std::string_view name;
  std::string_view help;
  std::string_view library;  // of one between processes; empty: all in this one
};

std::span<const TransportRow> AllTransports();

// nullptr: there is none of this name.
const TransportRow* FindTransport(std::string_view name);
// kUsage for a name that is not in the table, with "did you mean".
Result<const TransportRow*> RequireTransport(std::string_view name);

// The endpoints of ranks 0 .. ranks-1, all in this process. kUsage for a name
// that is not in the table, or is of a transport between processes.
Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(
    std::string_view name, uint32_t ranks);

}  // namespace pp::transport
