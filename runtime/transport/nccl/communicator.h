// The communicators of one rank: created in one order, warmed up, watched.
//
// NCCL runs what is issued on one communicator in the order in which the host
// issues it, so a lane is a communicator with a stream of its own. The first
// transfer on an edge makes a connection, for which both hosts wait: that is
// done here, edge by edge, before a program starts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/device/queue.h"
#include "runtime/transport/nccl/api.h"
#include "runtime/transport/nccl/fate.h"
#include "runtime/transport/nccl/plan.h"
#include "runtime/transport/transport.h"

namespace pp::transport::nccl {

struct Communicator {
  Comm comm = nullptr;
  device::Stream stream = nullptr;
  const CommPlan* plan = nullptr;

  uint32_t NumberOf(Rank rank) const;  // a member's, in this communicator
};

class Communicators {
 public:
  Communicators(std::shared_ptr<Api> api, Plan plan, Rank rank, uint32_t ranks,
                std::shared_ptr<Fate> fate)
      : api_(std::move(api)),
        plan_(std::move(plan)),
        rank_(rank),
        ranks_(ranks),
        fate_(std::move(fate)) {}
  // Orderly where nothing has failed, by abort otherwise.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  // All communicators, then every edge once: lane by lane, from rank, to rank.
  Status Open(const std::string& id, std::shared_ptr<device::Queue> queue,
              Deadline deadline);

  // The communicator of the lane, of sums, of all ranks. Null: this rank has no
  // edge there.
  const Communicator* Lane(LaneId lane) const;
  const Communicator* sums() const;
  const Communicator& all() const { return all_; }

  // Until what was started on `used` is done.
  Status Settle(const Communicator& used, Deadline deadline);
  // The first error of any of them, or of the run.
  Status Check();
  // Ends what is in flight and frees all: the device can then be freed, which
  // waits for its kernels. On the rank's thread.
  void AbortAll();

 private:
  Result<Communicator> SplitFor(const CommPlan& plan, Deadline deadline);
  Status WarmUp(const Communicator& used, Deadline deadline);
  Status Exchange(const Communicator& used, const Edge& edge,
                  Deadline deadline);
  Status Await(const device::Mark& mark, const Communicator& used,
               Deadline deadline);
  std::vector<Communicator*> Opened();  // children before their parent
  void Close();

  const std::shared_ptr<Api> api_;
  const Plan plan_;
  CommPlan everybody_;
  const Rank rank_;
  const uint32_t ranks_;
  const std::shared_ptr<Fate> fate_;
  std::shared_ptr<device::Queue> queue_;
  Communicator all_;
  std::vector<Communicator> lanes_;  // comm is null where it has no edge
  Communicator sums_;
};

}  // namespace pp::transport::nccl
