#include "runtime/transport/registry.h"

#include <fmt/format.h>

#include <array>

#include "runtime/base/edit_distance.h"
#include "runtime/transport/inproc/inproc.h"

namespace pp::transport {
namespace {

constexpr TransportRow kRows[] = {
#define PP_TRANSPORT(name, Create, help) {#name, help},
#include "runtime/transport/transports.def"
};

}  // namespace

std::span<const TransportRow> AllTransports() { return kRows; }

Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(
    std::string_view name, uint32_t ranks) {
#define PP_TRANSPORT(row, Create, help) \
  if (name == #row) return Create(ranks);
#include "runtime/transport/transports.def"
  std::vector<std::string_view> names;
  for (const TransportRow& row : kRows) names.push_back(row.name);
  return Fail(UsageError(
      fmt::format("unknown transport '{}'{}", name, Suggestion(name, names))));
}

}  // namespace pp::transport
