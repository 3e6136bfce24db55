// NCCL behind api.h. The only file of the project that calls it.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <cstring>
#include <string_view>

#include "runtime/transport/nccl/nccl.h"

static_assert(NCCL_VERSION_CODE >= 21800, "ncclCommSplit came with 2.18");

namespace pp::transport::nccl {

struct CommObject {
  ncclComm_t comm = nullptr;  // set by NCCL, maybe after the call that asked
};

namespace {

// The advice for the one mistake that many make.
std::string Hint(std::string_view text) {
  if (text.find("Duplicate GPU") == std::string_view::npos) return "";
  return " (to share one GPU give each process another NCCL_HOSTID)";
}

Status ErrorOf(const char* call, ncclResult_t code, ncclComm_t comm) {
  // A non-blocking call has only been started.
  if (code == ncclSuccess || code == ncclInProgress) return OkStatus();
  const char* const last = ncclGetLastError(comm);
  std::string text = ncclGetErrorString(code);
  if (last != nullptr && *last != '\0') text += fmt::format(": {}", last);
  const bool machines = code == ncclSystemError;
  return {machines ? StatusCode::kMachine : StatusCode::kRankFailed,
          fmt::format("{}: {}{}", call, text, Hint(text))};
}

ncclConfig_t NonBlocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

class RealApi final : public Api {
 public:
  uint32_t devices() override {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0
               ? static_cast<uint32_t>(count)
               : 0;
  }

  Result<std::string> NewId() override {
    ncclUniqueId id;
    PP_RETURN_IF_ERROR(
        ErrorOf("ncclGetUniqueId", ncclGetUniqueId(&id), nullptr));
    return std::string(id.internal, sizeof id.internal);
  }

  Result<Comm> Init(const std::string& id, uint32_t ranks, uint32_t rank,
                    uint32_t device) override {
    ncclUniqueId unique;
    if (id.size() != sizeof unique.internal) {
      return Fail(RankError("an NCCL id of another size"));
    }
    std::memcpy(unique.internal, id.data(), id.size());
    if (cudaSetDevice(static_cast<int>(device)) != cudaSuccess) {
      return Fail(MachineError(fmt::format("cannot use GPU {}", device)));
    }
    auto made = std::make_unique<CommObject>();
    ncclConfig_t config = NonBlocking();
    const ncclResult_t code =
        ncclCommInitRankConfig(&made->comm, static_cast<int>(ranks), unique,
                               static_cast<int>(rank), &config);
    PP_RETURN_IF_ERROR(ErrorOf("ncclCommInitRankConfig", code, made->comm));
    return made.release();
  }

  Result<Comm> Split(Comm parent, bool takes_part) override {
    auto made = std::make_unique<CommObject>();
    ncclConfig_t config = NonBlocking();
    // key 0 for all: by their rank in the parent.
    const ncclResult_t code =
        ncclCommSplit(parent->comm, takes_part ? 0 : NCCL_SPLIT_NOCOLOR, 0,
                      &made->comm, &config);
    PP_RETURN_IF_ERROR(ErrorOf("ncclCommSplit", code, parent->comm));
    // NCCL still writes into `comm` where it is in progress. One that takes no
    // part is left to NCCL as well: a few bytes, once.
    Comm const kept = made.release();
    return takes_part ? kept : nullptr;
  }

  Result<bool> Ready(Comm comm) override {
    if (comm->comm == nullptr) return Fail(RankError("no communicator"));
    ncclResult_t state = ncclSuccess;
    const ncclResult_t code = ncclCommGetAsyncError(comm->comm, &state);
    PP_RETURN_IF_ERROR(ErrorOf("ncclCommGetAsyncError", code, comm->comm));
    if (state == ncclInProgress) return false;
    PP_RETURN_IF_ERROR(ErrorOf("NCCL", state, comm->comm));
    return true;
  }

  Status GroupBegin() override {
    return ErrorOf("ncclGroupStart", ncclGroupStart(), nullptr);
  }
  Status GroupEnd() override {
    return ErrorOf("ncclGroupEnd", ncclGroupEnd(), nullptr);
  }

  Status Send(Comm comm, const std::byte* data, size_t bytes, uint32_t to,
              void* stream) override {
    return ErrorOf("ncclSend",
                   ncclSend(data, bytes, ncclUint8, static_cast<int>(to),
                            comm->comm, static_cast<cudaStream_t>(stream)),
                   comm->comm);
  }
  Status Recv(Comm comm, std::byte* data, size_t bytes, uint32_t from,
              void* stream) override {
    return ErrorOf("ncclRecv",
                   ncclRecv(data, bytes, ncclUint8, static_cast<int>(from),
                            comm->comm, static_cast<cudaStream_t>(stream)),
                   comm->comm);
  }

  void Abort(Comm comm) override {
    if (comm->comm != nullptr) (void)ncclCommAbort(comm->comm);
    delete comm;
  }
  Status Finalize(Comm comm) override {
    return ErrorOf("ncclCommFinalize", ncclCommFinalize(comm->comm),
                   comm->comm);
  }
  void Destroy(Comm comm) override {
    (void)ncclCommDestroy(comm->comm);
    delete comm;
  }
};

}  // namespace

Result<std::shared_ptr<Api>> CreateRealApi() {
  int version = 0;
  PP_RETURN_IF_ERROR(
      ErrorOf("ncclGetVersion", ncclGetVersion(&version), nullptr));
  if (version < 21800) {
    return Fail(MachineError(
        fmt::format("NCCL {} is too old: 2.18 or newer is needed", version)));
  }
  return std::make_shared<RealApi>();
}

}  // namespace pp::transport::nccl
