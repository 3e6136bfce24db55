// What all ranks of a process share: queues, requests, and who waits.
//
// Every function is called under `mutex`, by the thread of the rank it names.
// Private to emulated/.
#pragma once

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/transport/emulated/emulated.h"

namespace pp::transport::emulated {

struct Entry;

// One end of a transfer: a SEND or a RECV.
struct End {
  bool is_send = false;
  Rank self, peer;
  LaneId lane;
  MessageKey key;
  Buffer buffer;             // that is sent; that has come
  Buffer* target = nullptr;  // of a receive, written by its own rank
  Entry* entry = nullptr;
  uint64_t number = 0;  // on its channel: the n-th SEND meets the n-th RECV
  bool done = false;
};

// The n-th sum of a set of ranks.
struct Sum {
  std::map<Rank, Buffer> parts;
  std::map<Rank, std::vector<Rank>> orders;
  std::map<Rank, Entry*> entries;
  std::vector<float> result;
  Status failure;
  bool done = false;
};

// What stands in queues: one transfer, a group, or this rank's part of a sum.
struct Entry {
  Rank rank;
  std::vector<std::shared_ptr<End>> ends;
  std::shared_ptr<Sum> sum;
  std::set<uint64_t> queues;  // that it stands in
};

class Machine {
 public:
  Machine(uint32_t ranks, Rules rules) : rules_(rules), ranks_(ranks) {}

  std::mutex mutex;

  uint32_t ranks() const { return static_cast<uint32_t>(ranks_.size()); }
  const Status& aborted() const { return aborted_; }
  void Abort(const Status& cause);

  void Issue(Rank rank, std::vector<std::shared_ptr<End>> ends);
  std::shared_ptr<Sum> IssueSum(Rank rank, const std::vector<Rank>& order,
                                const Buffer& part);

  // Until `done` holds. kAborted after Abort; kRankFailed where no rank can
  // move, or at the deadline: then `what` names what is waited for.
  template <typename Done>
  Status Wait(std::unique_lock<std::mutex>& lock, Rank rank, std::string what,
              Deadline deadline, Done done);
  Status Barrier(std::unique_lock<std::mutex>& lock, Rank rank,
                 Deadline deadline);

  void Wake(Rank rank) { ranks_[rank.value].state = State::kRuns; }
  void Rest(Rank rank);

 private:
  enum class State : uint8_t { kRuns, kWaits, kRests };
  struct RankState {
    std::map<uint64_t, std::deque<Entry*>> queues;
    std::vector<std::unique_ptr<Entry>> entries;  // that stand in them
    std::condition_variable bell;
    State state = State::kRuns;
    std::string waits_for;
    uint64_t steps = 0;  // ended
    uint64_t barriers = 0;
  };
  // From one rank to another on a lane: ends that are not done, in order.
  struct Channel {
    std::deque<std::shared_ptr<End>> sends, receives;
    std::deque<std::pair<uint64_t, Buffer>> letters;  // eager: sent, not taken
    uint64_t send_count = 0, receive_count = 0;
  };

  // ---- What can start, starts (settle.cpp) ----
  void Settle();
  bool TryHead(Entry& entry);
  bool TryEager(Entry& entry);
  bool Gather(Entry& entry, std::set<Entry*>& together);
  bool AtHead(const Entry& entry) const;
  End* PartnerOf(const End& end);
  void Finish(Entry& entry);
  void HandOver(End& send, End& receive);
  static void AddUp(Sum& sum);
  void Enqueue(std::unique_ptr<Entry> entry);
  Channel& ChannelOf(const End& end);

  bool AllStand() const;
  void FindStuck();
  std::string Standing() const;
  void WakeAll();

  Rules rules_;
  std::vector<RankState> ranks_;
  std::map<std::tuple<Rank, Rank, LaneId>, Channel> channels_;
  std::map<std::vector<Rank>, uint64_t> sum_queues_;  // by ranks, sorted
  std::map<std::pair<std::vector<Rank>, uint64_t>, std::shared_ptr<Sum>> sums_;
  std::map<std::pair<std::vector<Rank>, Rank>, uint64_t> sum_counts_;
  uint64_t barriers_ = 0;  // that all ranks have come to
  Status aborted_, stuck_;
};

std::string Describe(const End& end);

template <typename Done>
Status Machine::Wait(std::unique_lock<std::mutex>& lock, Rank rank,
                     std::string what, Deadline deadline, Done done) {
  RankState& state = ranks_[rank.value];
  const auto begin = std::chrono::steady_clock::now();
  while (!done()) {
    if (!aborted_.ok()) return aborted_;
    if (!stuck_.ok()) return stuck_;
    state.state = State::kWaits;
    state.waits_for = what;
    FindStuck();
    if (!stuck_.ok()) continue;
    if (state.bell.wait_until(lock, deadline) == std::cv_status::timeout &&
        !done()) {
      state.state = State::kRuns;
      const std::chrono::duration<double> waited =
          std::chrono::steady_clock::now() - begin;
      return RankError(
          fmt::format("waited {:.1f} s for {}", waited.count(), what));
    }
  }
  state.state = State::kRuns;
  return OkStatus();
}

}  // namespace pp::transport::emulated
