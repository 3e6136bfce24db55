#include "runtime/transport/inproc/hub.h"

#include <thread>

namespace pp::transport::inproc {

Hub::Hub(uint32_t ranks)
    : ranks_(ranks),
      crowd_(ranks, std::thread::hardware_concurrency()),
      channels_(size_t{ranks} * ranks),
      pools_(ranks) {
  for (uint32_t r = 0; r < ranks; ++r) bells_.emplace_back(crowd_);
}

void Hub::Post(Request& request) {
  const Rank from = request.is_send ? request.self : request.peer;
  const Rank to = request.is_send ? request.peer : request.self;
  if (channel(from, to).Post(request)) bell(request.peer).Ring();
}

void Hub::RingAll() {
  for (Bell& bell : bells_) bell.Ring();
}

void Hub::Abort(const Status& cause) {
  {
    std::lock_guard lock(cause_mutex_);
    if (aborted()) return;
    cause_ = cause.message();
    aborted_.store(true, std::memory_order_release);
  }
  RingAll();
}

Status Hub::cause() const {
  std::lock_guard lock(cause_mutex_);
  return {StatusCode::kAborted, cause_};
}

}  // namespace pp::transport::inproc
