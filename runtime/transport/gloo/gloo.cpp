#include "runtime/transport/gloo/gloo.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "runtime/base/listen.h"
#include "runtime/transport/gloo/endpoint.h"

namespace pp::transport::gloo {
namespace {

std::string PlaceOf(const Listening& listening, const std::string& address) {
  return fmt::format("{} {}", listening.port, address);
}

class GlooTransport final : public ProcessTransport {
 public:
  Result<std::string> Open(const std::string& address,
                           const Meeting& meeting) override {
    PP_ASSIGN_OR_RETURN(const Listening listening, ListenOn(address, 0));
    PP_ASSIGN_OR_RETURN(store_,
                        ServeStore(address, listening, meeting.deadline));
    return PlaceOf(listening, address);
  }

  Result<std::unique_ptr<Transport>> Join(const Meeting& meeting) override {
    auto family = std::make_shared<Family>();
    if (store_ == nullptr) {
      PP_ASSIGN_OR_RETURN(store_, ReachStore(meeting.place, meeting.deadline));
    }
    return JoinGroup(store_, meeting, std::move(family));
  }

 private:
  StorePtr store_;
};

}  // namespace

std::unique_ptr<ProcessTransport> CreateProcessTransport() {
  QuietLog();
  return std::make_unique<GlooTransport>();
}

namespace {

// A connection to the store of its own for each rank: one that waits for a key
// lets nobody else through.
Result<std::unique_ptr<Transport>> JoinLocal(const StorePtr& served,
                                             const Meeting& meeting,
                                             std::shared_ptr<Family> family) {
  StorePtr store = served;
  if (meeting.rank != Rank(0)) {
    PP_ASSIGN_OR_RETURN(store, ReachStore(meeting.place, meeting.deadline));
  }
  return JoinGroup(store, meeting, std::move(family));
}

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> CreateLocal(uint32_t ranks) {
  const std::string address = "127.0.0.1";
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  PP_ASSIGN_OR_RETURN(const Listening listening, ListenOn(address, 0));
  PP_ASSIGN_OR_RETURN(const StorePtr store,
                      ServeStore(address, listening, deadline));
  auto family = std::make_shared<Family>();
  const std::string place = PlaceOf(listening, address);
  std::vector<std::future<Result<std::unique_ptr<Transport>>>> joining;
  for (uint32_t r = 0; r < ranks; ++r) {
    const Meeting meeting{Rank(r), ranks, 0, 0, address, place, deadline};
    joining.push_back(std::async(
        std::launch::async, [=] { return JoinLocal(store, meeting, family); }));
  }
  std::vector<std::unique_ptr<Transport>> ends;
  Status failure;
  for (auto& end : joining) {
    auto joined = end.get();
    if (joined) {
      ends.push_back(std::move(*joined));
    } else if (failure.ok()) {
      failure = joined.error();
    }
  }
  if (!failure.ok()) return Fail(failure);
  return ends;
}

}  // namespace pp::transport::gloo
