#include "runtime/transport/registry.h"

#include <fmt/format.h>

#include <array>

#include "runtime/base/edit_distance.h"
#include "runtime/transport/emulated/emulated.h"
#include "runtime/transport/inproc/inproc.h"

namespace pp::transport {
namespace {

constexpr TransportRow kRows[] = {
#define PP_TRANSPORT(name, Create, help) {#name, help, ""},
#define PP_PROCESS_TRANSPORT(name, library, help) {#name, help, library},
#include "runtime/transport/transports.def"
};

}  // namespace

std::span<const TransportRow> AllTransports() { return kRows; }

const TransportRow* FindTransport(std::string_view name) {
  for (const TransportRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Result<const TransportRow*> RequireTransport(std::string_view name) {
  if (const TransportRow* row = FindTransport(name)) return row;
  std::vector<std::string_view> names;
  for (const TransportRow& row : kRows) names.push_back(row.name);
  return Fail(UsageError(
      fmt::format("unknown transport '{}'{}", name, Suggestion(name, names))));
}

Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(
    std::string_view name, uint32_t ranks) {
#define PP_TRANSPORT(row, Create, help) \
  if (name == #row) return Create(ranks);
#define PP_PROCESS_TRANSPORT(row, library, help)
#include "runtime/transport/transports.def"
  if (auto row = RequireTransport(name); !row) return Fail(row.error());
  return Fail(
      UsageError(fmt::format("transport '{}' is one between processes", name)));
}

}  // namespace pp::transport
