#include "runtime/transport/emulated/machine.h"

#include <algorithm>

namespace pp::transport::emulated {

std::string Describe(const End& end) {
  return fmt::format(
      "`{} {} s{} m{}` {} rank {} on lane {}", end.is_send ? "send" : "recv",
      bytecode::PayloadName(end.key.payload), end.key.stage.value,
      end.key.mb.value, end.is_send ? "to" : "from", end.peer.value,
      end.lane.value);
}

void Machine::Abort(const Status& cause) {
  if (!aborted_.ok()) return;
  aborted_ = Status(StatusCode::kAborted, cause.message());
  WakeAll();
}

void Machine::WakeAll() {
  for (RankState& state : ranks_) state.bell.notify_all();
}

void Machine::Rest(Rank rank) {
  ranks_[rank.value].state = State::kRests;
  ++ranks_[rank.value].steps;
  FindStuck();
}

// ---- Issuing ----

Machine::Channel& Machine::ChannelOf(const End& end) {
  const auto [from, to] = end.is_send ? std::pair(end.self, end.peer)
                                      : std::pair(end.peer, end.self);
  return channels_[{from, to, end.lane}];
}

void Machine::Issue(Rank rank, std::vector<std::shared_ptr<End>> ends) {
  auto entry = std::make_unique<Entry>();
  entry->rank = rank;
  for (const auto& end : ends) {
    end->entry = entry.get();
    Channel& channel = ChannelOf(*end);
    end->number = end->is_send ? channel.send_count++ : channel.receive_count++;
    (end->is_send ? channel.sends : channel.receives).push_back(end);
    entry->queues.insert(rules_.queue_per_lane ? end->lane.value : 0);
  }
  entry->ends = std::move(ends);
  Enqueue(std::move(entry));
}

std::shared_ptr<Sum> Machine::IssueSum(Rank rank,
                                       const std::vector<Rank>& order,
                                       const Buffer& part) {
  std::vector<Rank> set = order;
  std::sort(set.begin(), set.end());
  const uint64_t number = sum_counts_[{set, rank}]++;
  std::shared_ptr<Sum>& sum = sums_[{set, number}];
  if (sum == nullptr) sum = std::make_shared<Sum>();
  sum->parts[rank] = part;
  sum->orders[rank] = order;
  auto entry = std::make_unique<Entry>();
  entry->rank = rank;
  entry->sum = sum;
  // Queues of sums are numbered behind those of lanes.
  constexpr uint64_t kBehind = uint64_t{1} << 32;
  const uint64_t queue =
      sum_queues_.try_emplace(set, kBehind + sum_queues_.size()).first->second;
  entry->queues.insert(rules_.queue_per_lane ? queue : 0);
  sum->entries[rank] = entry.get();
  const auto result = sum;
  if (sum->parts.size() == set.size()) sums_.erase({set, number});
  Enqueue(std::move(entry));
  return result;
}

void Machine::Enqueue(std::unique_ptr<Entry> entry) {
  RankState& state = ranks_[entry->rank.value];
  for (const uint64_t queue : entry->queues) {
    state.queues[queue].push_back(entry.get());
  }
  state.entries.push_back(std::move(entry));
  Settle();
}

// ---- Waiting ----

Status Machine::Barrier(std::unique_lock<std::mutex>& lock, Rank rank,
                        Deadline deadline) {
  const uint64_t mine = ++ranks_[rank.value].barriers;
  uint64_t all = mine;
  for (const RankState& state : ranks_) all = std::min(all, state.barriers);
  if (all > barriers_) {
    barriers_ = all;
    for (RankState& state : ranks_) state.state = State::kRuns;
    WakeAll();
  }
  return Wait(lock, rank, "a barrier", deadline,
              [&] { return barriers_ >= mine; });
}

// Some rank waits, and no rank runs. Who rests helps in a later step only,
// which begins when all have ended this one; who has ended the one before is
// about to begin this one.
bool Machine::AllStand() const {
  uint64_t step = UINT64_MAX;  // of those that wait
  for (const RankState& state : ranks_) {
    if (state.state == State::kRuns) return false;
    if (state.state == State::kWaits) step = std::min(step, state.steps);
  }
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const RankState& state) {
    return state.state == State::kWaits || state.steps > step;
  });
}

// What could start has started, so that only a rank that runs could change
// anything.
void Machine::FindStuck() {
  if (!AllStand() || !stuck_.ok() || !aborted_.ok()) return;
  stuck_ = RankError("no rank can move: " + Standing());
  WakeAll();
}

std::string Machine::Standing() const {
  std::string text;
  for (uint32_t r = 0; r < ranks(); ++r) {
    const RankState& state = ranks_[r];
    text += fmt::format("{}rank {} ", r == 0 ? "" : "; ", r);
    text += state.state == State::kRests ? "has ended its step"
                                         : "waits for " + state.waits_for;
    for (const auto& [number, queue] : state.queues) {
      if (queue.empty() || queue.front()->ends.empty()) continue;
      const std::string head = Describe(*queue.front()->ends.front());
      if (head == state.waits_for) continue;
      text += fmt::format(" (before it in its queue: {})", head);
    }
  }
  return text;
}

}  // namespace pp::transport::emulated
