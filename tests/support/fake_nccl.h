// NCCL's rules on the virtual GPU (fake_device.h): no tags, the n-th send of an
// edge meets the n-th receive, a transfer takes both streams at once, what is
// issued on one communicator runs in that order, a group is one kernel, and the
// first use of an edge keeps both hosts until the other one has come.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/transport/nccl/api.h"
#include "tests/support/fake_device.h"

namespace pp::test {

class FakeNccl final : public transport::nccl::Api {
 public:
  explicit FakeNccl(std::shared_ptr<FakeDevice> device);
  ~FakeNccl() override;

  int64_t transfer_ns = 0;  // of each

  // What a rank of the run has asked for, in order: "split", "send c1>0" (to
  // number 0 of the first communicator split off), "recv c1<0", "group", "end".
  std::vector<std::string> Calls(uint32_t rank);
  size_t live_communicators();
  uint32_t aborts();

  uint32_t devices() override { return device_->devices(); }
  Result<std::string> NewId() override;
  Result<transport::nccl::Comm> Init(const std::string& id, uint32_t ranks,
                                     uint32_t rank, uint32_t device) override;
  Result<transport::nccl::Comm> Split(transport::nccl::Comm parent,
                                      bool takes_part) override;
  Result<bool> Ready(transport::nccl::Comm comm) override;
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status Send(transport::nccl::Comm comm, const std::byte* data, size_t bytes,
              uint32_t to, void* stream) override;
  Status Recv(transport::nccl::Comm comm, std::byte* data, size_t bytes,
              uint32_t from, void* stream) override;
  void Abort(transport::nccl::Comm comm) override;
  Status Finalize(transport::nccl::Comm comm) override;
  void Destroy(transport::nccl::Comm comm) override;

 private:
  struct World;
  struct Pair;
  struct Half;
  struct State;  // of a communicator on one rank
  struct Issued;
  struct Group {
    bool open = false;
    std::vector<Issued> issued;
  };

  State& Of(transport::nccl::Comm comm) const;
  transport::nccl::Comm Keep(std::unique_ptr<State> state);
  Status Add(transport::nccl::Comm comm, bool is_send, const std::byte* data,
             size_t bytes, uint32_t peer, void* stream);
  Status Launch(const std::vector<Issued>& issued);
  void Forget(transport::nccl::Comm comm);

  const std::shared_ptr<FakeDevice> device_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<World>> worlds_;
  std::vector<std::unique_ptr<State>> states_;
  std::map<std::thread::id, Group> groups_;
  std::map<uint32_t, std::vector<std::string>> calls_;
  uint32_t ids_ = 0;
  uint32_t aborts_ = 0;
};

}  // namespace pp::test
