#include "runtime/transport/nccl/endpoint.h"
#include "runtime/transport/nccl/nccl.h"

namespace pp::transport::nccl {

Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(
    std::shared_ptr<Api> api, const Plan& plan, uint32_t ranks) {
  PP_ASSIGN_OR_RETURN(const std::string id, api->NewId());
  const auto fate = std::make_shared<Fate>();
  std::vector<std::unique_ptr<Transport>> ends;
  for (uint32_t r = 0; r < ranks; ++r) {
    ends.push_back(
        std::make_unique<Endpoint>(api, plan, Rank(r), ranks, id, fate));
  }
  return ends;
}

}  // namespace pp::transport::nccl
