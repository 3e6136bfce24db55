// One rank's end of a Gloo process group. Internal to this folder.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/listen.h"
#include "runtime/transport/meeting.h"

namespace pp::transport::gloo {

// Hides LibTorch's types from everything but endpoint.cpp.
using StorePtr = std::shared_ptr<void>;

// LibTorch logs what it throws as well, with stacks: its log says nothing from
// here on, unless TORCH_CPP_LOG_LEVEL asks for it. Failures come as statuses.
void QuietLog();

Result<StorePtr> ServeStore(const std::string& address,
                            const Listening& listening, Deadline deadline);
// `place` is what GlooTransport::Open gave: "PORT ADDRESS".
Result<StorePtr> ReachStore(const std::string& place, Deadline deadline);

// The endpoints of one process: Abort reaches all of them.
class Family {
 public:
  void Add(Transport* end);
  void Remove(Transport* end);
  // Ends the waits of all. The first cause wins.
  void Abort(const Status& cause);

 private:
  std::mutex mutex_;
  std::vector<Transport*> ends_;
  bool aborted_ = false;
};

Result<std::unique_ptr<Transport>> JoinGroup(const StorePtr& store,
                                             const Meeting& meeting,
                                             std::shared_ptr<Family> family);

}  // namespace pp::transport::gloo
