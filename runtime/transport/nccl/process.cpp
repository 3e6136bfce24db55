// How processes come together (transport/meeting.h): rank 0's NCCL id is the
// place.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "runtime/transport/nccl/endpoint.h"
#include "runtime/transport/nccl/nccl.h"
#include "runtime/transport/nccl/place.h"

namespace pp::transport::nccl {
namespace {

// NCCL's own sockets stay where the rendezvous is; and ranks that must share a
// GPU look like hosts of their own, as NCCL refuses two on one host.
void SetEnvironment(const Meeting& meeting, uint32_t devices) {
  if (!IsLoopback(meeting.address)) return;
  setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
  if (meeting.ranks <= devices) return;
  const std::string host = fmt::format("pp-rank-{}", meeting.rank.value);
  setenv("NCCL_HOSTID", host.c_str(), /*overwrite=*/0);
}

class NcclProcess final : public ProcessTransport {
 public:
  Result<std::string> Open(const std::string& address,
                           const Meeting& meeting) override {
    Meeting here = meeting;
    here.address = address;
    PP_ASSIGN_OR_RETURN(const auto api, Ready(here));
    PP_ASSIGN_OR_RETURN(const std::string id, api->NewId());
    return ToPlace(id);
  }

  Result<std::unique_ptr<Transport>> Join(const Meeting& meeting) override {
    PP_ASSIGN_OR_RETURN(auto api, Ready(meeting));
    PP_ASSIGN_OR_RETURN(std::string id, FromPlace(meeting.place));
    Plan plan = meeting.module != nullptr
                    ? MakePlan(*meeting.module)
                    : FullPlan(meeting.ranks, meeting.lanes);
    return std::make_unique<Endpoint>(std::move(api), std::move(plan),
                                      meeting.rank, meeting.ranks,
                                      std::move(id), std::make_shared<Fate>());
  }

 private:
  Result<std::shared_ptr<Api>> Ready(const Meeting& meeting) {
    if (api_ == nullptr) {
      PP_ASSIGN_OR_RETURN(api_, CreateRealApi());
      SetEnvironment(meeting, api_->devices());
    }
    if (api_->devices() == 0) {
      return Fail(MachineError("--transport nccl: no GPU can be used"));
    }
    return api_;
  }

  std::shared_ptr<Api> api_;
};

}  // namespace

std::unique_ptr<ProcessTransport> CreateProcessTransport() {
  return std::make_unique<NcclProcess>();
}

}  // namespace pp::transport::nccl
