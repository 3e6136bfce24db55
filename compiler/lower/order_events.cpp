#include "compiler/lower/order_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace pp::lower {
namespace {

using ir::Ticks;

// Something that ends at a known time.
struct Ending {
  Ticks time;
  EventKind kind;  // kCompute or kSent
  uint32_t rank;   // kSent: the sender
  uint32_t id;

  // Order in a min-heap; transfers end before computations.
  auto Key() const {
    return std::make_tuple(time, kind == EventKind::kCompute, rank, id);
  }
  friend bool operator>(const Ending& a, const Ending& b) {
    return a.Key() > b.Key();
  }
};

// A computed tensor that waits for a receive slot. What the receiver reads
// first goes first.
struct Waiting {
  uint32_t needed_at;  // index in the receiver's program
  TensorId id;
  Ticks since = 0;
  friend bool operator>(const Waiting& a, const Waiting& b) {
    return std::tie(a.needed_at, a.id) > std::tie(b.needed_at, b.id);
  }
};

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

// Indices that changed at this moment, each listed once.
class Touched {
 public:
  explicit Touched(size_t size) : listed_(size) {}
  void Add(uint32_t i) {
    if (listed_[i]) return;
    listed_[i] = true;
    list_.push_back(i);
  }
  bool empty() const { return list_.empty(); }
  void Take(std::vector<uint32_t>& out) {
    out.clear();
    out.swap(list_);
    for (uint32_t i : out) listed_[i] = false;
  }

 private:
  std::vector<bool> listed_;
  std::vector<uint32_t> list_;
};

// See order_events.h. Kinds without a cost are not run.
Ticks LeastLatency(const ir::CostModel& costs) {
  constexpr Ticks kShare = 8;
  Ticks cheapest = costs.LargestOp();
  for (size_t kind = 0; kind < ir::kOpKinds; ++kind) {
    if (costs.known[kind]) cheapest = std::min(cheapest, costs.op[kind]);
  }
  return cheapest / kShare;
}

class Simulation {
 public:
  Simulation(const ir::Schedule& schedule, const ir::CostModel& costs,
             const Transfers& transfers, const WorkIndex& index,
             const Options& options);
  Result<std::vector<Event>> Run();

 private:
  struct RankState {
    uint32_t next = 0;  // operation to start
    bool running = false;
  };
  struct ChannelState {
    uint32_t free_slots;
    MinHeap<Waiting> waiting;
  };
  struct Link {  // the communication queue of a rank
    bool idle = true;
    std::vector<ChannelId> channels;  // that begin or end here
  };
  struct Candidate {
    uint32_t ops_ahead;  // of the receiver's until it reads the tensor
    Ticks since;         // the tensor was computed
    uint32_t src;
    uint32_t mb;
    ChannelId channel;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  StageId StageOf(uint32_t rank, const ir::Op& op) const {
    return StageId{schedule_.StageOf(Rank{rank}, op.chunk)};
  }
  std::optional<TensorId> InputOf(uint32_t rank, const ir::Op& op) const {
    return transfers_.Input(op.kind, StageOf(rank, op), MicroBatch{op.mb});
  }
  void RunUntilQuiet();
  void EndAllAt(Ticks time);
  void EndTransfer(TensorId id);
  void EndCompute(uint32_t rank);
  void Produce(TensorId id);
  uint32_t NeededAt(const Tensor& tensor) const;
  void StartTransfers();
  void CollectCandidates();
  bool CanStart(ChannelId c) const;
  ChannelId ReverseOf(ChannelId c) const;
  void StartTransfer(ChannelId c);
  void StartComputes();
  bool GrantSlot();
  Status Stuck() const;

  const ir::Schedule& schedule_;
  const ir::CostModel& costs_;
  const Transfers& transfers_;
  const WorkIndex& index_;

  const Ticks least_latency_;
  Ticks now_ = 0;
  MinHeap<Ending> endings_;
  std::vector<RankState> ranks_;
  std::vector<ChannelState> channels_;
  std::vector<bool> arrived_;  // by tensor: readable at its consumer
  Touched touched_ranks_;
  Touched touched_channels_;
  std::vector<uint32_t> batch_;  // scratch
  std::vector<Link> links_;
  std::vector<Candidate> candidates_;  // scratch
  size_t ops_left_ = 0;
  std::vector<Event> events_;
};

Simulation::Simulation(const ir::Schedule& schedule, const ir::CostModel& costs,
                       const Transfers& transfers, const WorkIndex& index,
                       const Options& options)
    : schedule_(schedule),
      costs_(costs),
      transfers_(transfers),
      index_(index),
      least_latency_(LeastLatency(costs)),
      ranks_(schedule.ranks),
      arrived_(transfers.tensor_count()),
      touched_ranks_(schedule.ranks),
      touched_channels_(transfers.channels().size()) {
  channels_.resize(transfers.channels().size(), {options.receive_slots, {}});
  links_.resize(schedule.ranks);
  for (ChannelId c = 0; c < channels_.size(); ++c) {
    links_[transfers.channels()[c].src.value].channels.push_back(c);
    links_[transfers.channels()[c].dst.value].channels.push_back(c);
  }
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    ops_left_ += schedule.programs[r].size();
    touched_ranks_.Add(r);
  }
  // At most one transfer, so two more events, an operation.
  events_.reserve(3 * ops_left_);
}

Result<std::vector<Event>> Simulation::Run() {
  RunUntilQuiet();
  while (ops_left_ > 0) {
    if (!GrantSlot()) return Fail(Stuck());
    RunUntilQuiet();
  }
  return std::move(events_);
}

void Simulation::RunUntilQuiet() {
  while (true) {
    StartTransfers();
    // A transfer without latency ends now and may allow further ones: those
    // come before computations.
    if (!endings_.empty() && endings_.top().time == now_) {
      EndAllAt(now_);
      continue;
    }
    StartComputes();
    if (endings_.empty()) return;
    now_ = endings_.top().time;
    EndAllAt(now_);
  }
}

void Simulation::EndAllAt(Ticks time) {
  while (!endings_.empty() && endings_.top().time == time) {
    const Ending ending = endings_.top();
    endings_.pop();
    events_.push_back({.id = ending.id,
                       .rank = static_cast<uint16_t>(ending.rank),
                       .kind = ending.kind});
    if (ending.kind == EventKind::kCompute) {
      EndCompute(ending.rank);
    } else {
      EndTransfer(ending.id);
    }
  }
}

void Simulation::EndTransfer(TensorId id) {
  arrived_[id] = true;
  const Channel& channel = transfers_.channels()[transfers_.ChannelOf(id)];
  touched_ranks_.Add(channel.dst.value);
  for (Rank end : {channel.src, channel.dst}) {
    links_[end.value].idle = true;
    for (ChannelId c : links_[end.value].channels) touched_channels_.Add(c);
  }
}

void Simulation::EndCompute(uint32_t rank) {
  RankState& state = ranks_[rank];
  const ir::Op& op = schedule_.programs[rank][state.next];
  state.running = false;
  ++state.next;
  --ops_left_;
  touched_ranks_.Add(rank);
  const StageId stage = StageOf(rank, op);
  if (const auto input = transfers_.Input(op.kind, stage, MicroBatch{op.mb})) {
    const ChannelId channel = transfers_.ChannelOf(*input);
    if (channel != kLocal) {
      ++channels_[channel].free_slots;
      touched_channels_.Add(channel);
    }
  }
  if (const auto output =
          transfers_.Output(op.kind, stage, MicroBatch{op.mb})) {
    Produce(*output);
  }
}

void Simulation::Produce(TensorId id) {
  const ChannelId channel = transfers_.ChannelOf(id);
  if (channel == kLocal) {  // its rank is touched already
    arrived_[id] = true;
    return;
  }
  channels_[channel].waiting.push(
      {NeededAt(transfers_.Describe(id)), id, now_});
  touched_channels_.Add(channel);
}

uint32_t Simulation::NeededAt(const Tensor& tensor) const {
  const StageId consumer = Transfers::ConsumerStage(tensor);
  return tensor.payload == Payload::kAct ? index_.Forward(consumer, tensor.mb)
                                         : index_.Backward(consumer, tensor.mb);
}

void Simulation::StartTransfers() {
  if (touched_channels_.empty()) return;
  CollectCandidates();
  for (const Candidate& candidate : candidates_) {
    if (!CanStart(candidate.channel)) continue;
    const ChannelId reverse = ReverseOf(candidate.channel);
    StartTransfer(candidate.channel);
    if (reverse != kLocal) StartTransfer(reverse);
  }
}

bool Simulation::CanStart(ChannelId c) const {
  const Channel& channel = transfers_.channels()[c];
  return channels_[c].free_slots > 0 && !channels_[c].waiting.empty() &&
         links_[channel.src.value].idle && links_[channel.dst.value].idle;
}

// The channels of which a transfer could start now, most urgent first.
void Simulation::CollectCandidates() {
  candidates_.clear();
  touched_channels_.Take(batch_);
  for (uint32_t c : batch_) {
    if (!CanStart(c)) continue;
    const Channel& channel = transfers_.channels()[c];
    const Waiting& first = channels_[c].waiting.top();
    candidates_.push_back({first.needed_at - ranks_[channel.dst.value].next,
                           first.since, channel.src.value,
                           transfers_.Describe(first.id).mb.value, c});
  }
  std::sort(candidates_.begin(), candidates_.end());
}

// A channel of the opposite direction that can start too, if any.
ChannelId Simulation::ReverseOf(ChannelId c) const {
  const Channel& channel = transfers_.channels()[c];
  for (ChannelId other : links_[channel.dst.value].channels) {
    if (transfers_.channels()[other].src == channel.dst &&
        transfers_.channels()[other].dst == channel.src && CanStart(other)) {
      return other;
    }
  }
  return kLocal;
}

void Simulation::StartTransfer(ChannelId c) {
  const TensorId id = channels_[c].waiting.top().id;
  channels_[c].waiting.pop();
  --channels_[c].free_slots;
  const Channel& channel = transfers_.channels()[c];
  links_[channel.src.value].idle = false;
  links_[channel.dst.value].idle = false;
  events_.push_back({.id = id,
                     .rank = static_cast<uint16_t>(channel.src.value),
                     .kind = EventKind::kTransfer});
  const Ticks latency = std::max(
      costs_.Transfer(channel.src, channel.dst), least_latency_);
  endings_.push({now_ + latency, EventKind::kSent, channel.src.value, id});
}

void Simulation::StartComputes() {
  touched_ranks_.Take(batch_);
  for (uint32_t r : batch_) {
    RankState& state = ranks_[r];
    const std::vector<ir::Op>& program = schedule_.programs[r];
    if (state.running || state.next == program.size()) continue;
    const ir::Op& op = program[state.next];
    const auto input = InputOf(r, op);
    if (input && !arrived_[*input]) continue;
    state.running = true;
    endings_.push({now_ + costs_.Of(StageOf(r, op).value, op.kind),
                   EventKind::kCompute, r, state.next});
  }
}

// Nothing runs. Of the tensors that wait for a slot, one is the next input of
// its receiver unless the operations themselves form a cycle.
bool Simulation::GrantSlot() {
  for (uint32_t r = 0; r < schedule_.ranks; ++r) {
    const std::vector<ir::Op>& program = schedule_.programs[r];
    if (ranks_[r].next == program.size()) continue;
    const auto input = InputOf(r, program[ranks_[r].next]);
    if (!input || transfers_.ChannelOf(*input) == kLocal) continue;
    const ChannelId c = transfers_.ChannelOf(*input);
    ChannelState& state = channels_[c];
    if (state.waiting.empty() || state.waiting.top().id != *input) continue;
    ++state.free_slots;
    touched_channels_.Add(c);
    return true;
  }
  return false;
}

Status Simulation::Stuck() const {
  for (uint32_t r = 0; r < schedule_.ranks; ++r) {
    const std::vector<ir::Op>& program = schedule_.programs[r];
    if (ranks_[r].next == program.size()) continue;
    return InputError(fmt::format(
        "schedule {}: operations wait for each other in a cycle; rank {} "
        "never starts {}",
        schedule_.name, r,
        ir::Describe(schedule_, Rank{r}, program[ranks_[r].next])));
  }
  return InputError(fmt::format("schedule {}: nothing to do", schedule_.name));
}

// Bounds every time of the simulation.
Status CheckCosts(const ir::Schedule& schedule, const ir::CostModel& costs) {
  const Ticks most = std::max(costs.LargestTransfer(), costs.LargestOp());
  const bool negative =
      costs.comm < 0 || std::any_of(costs.op.begin(), costs.op.end(),
                                    [](Ticks cost) { return cost < 0; });
  Ticks sum = 0;
  for (const auto& program : schedule.programs) {
    Ticks of_rank = 0;
    if (__builtin_mul_overflow(most, 2 * static_cast<Ticks>(program.size()),
                               &of_rank) ||
        __builtin_add_overflow(sum, of_rank, &sum)) {
      return InputError(fmt::format(
          "costs {}: the sum over all operations of schedule {} is too large",
          ir::Print(costs), schedule.name));
    }
  }
  if (negative) {
    return InputError(
        fmt::format("costs {}: a cost is negative", ir::Print(costs)));
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<Event>> OrderEvents(const ir::Schedule& schedule,
                                       const ir::CostModel& costs,
                                       const Transfers& transfers,
                                       const WorkIndex& index,
                                       const Options& options) {
  PP_RETURN_IF_ERROR(CheckCosts(schedule, costs));
  return Simulation(schedule, costs, transfers, index, options).Run();
}

}  // namespace pp::lower
