#include "compiler/lower/order_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/lower/agenda.h"
#include "compiler/lower/plan_builder.h"

namespace pp::lower {
namespace {

using ir::Ticks;

// A computed tensor that waits for a receive slot. What the receiver reads
// first goes first.
struct Waiting {
  uint32_t consumer;  // operation of the receiver
  uint32_t producer;  // operation of the sender
  Ticks since = 0;
  friend bool operator>(const Waiting& a, const Waiting& b) {
    return a.consumer > b.consumer;
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
    listed_[i] = 1;
    list_.push_back(i);
  }
  bool empty() const { return list_.empty(); }
  void Take(std::vector<uint32_t>& out) {
    out.clear();
    out.swap(list_);
    for (uint32_t i : out) listed_[i] = 0;
  }

 private:
  std::vector<uint8_t> listed_;
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
  Result<Plan> Run();

 private:
  struct RankState {
    const ir::Op* ops = nullptr;
    const uint32_t* stages = nullptr;  // by chunk
    uint32_t size = 0;
    uint32_t next = 0;  // operation to start
    bool running = false;
    std::vector<bool> arrived;  // by operation: its input can be read
  };
  struct ChannelState {
    Channel ends;
    Ticks latency = 0;
    // Of the opposite direction, kLocal where there is none.
    std::array<ChannelId, bytecode::kPayloadCount> reverse = {kLocal, kLocal};
    uint32_t free_slots = 0;
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

  void AddChannels(const ir::CostModel& costs, uint32_t receive_slots);
  void RunUntilQuiet();
  void EndNext();
  void EndTransfer(const SentEnding& ending);
  void EndCompute(uint32_t rank);
  void EndOp(uint32_t rank);
  void Produce(const ir::Op& op, StageId stage, uint32_t producer,
               ChannelId channel);
  void StartTransfers();
  void CollectCandidates();
  bool CanStart(ChannelId c) const;
  ChannelId ReverseOf(ChannelId c) const;
  void StartTransfer(ChannelId c);
  void StartComputes();
  ChannelId InputOf(const RankState& state, uint32_t at) const;
  bool HasInput(const RankState& state, uint32_t at) const;
  bool GrantSlot();
  Status Stuck() const;

  const ir::Schedule& schedule_;
  const ir::CostModel& costs_;
  const Transfers& transfers_;
  const WorkIndex& index_;

  Ticks now_ = 0;
  Agenda agenda_;
  std::vector<RankState> ranks_;
  std::vector<ChannelState> channels_;
  Touched touched_ranks_;
  Touched touched_channels_;
  std::vector<uint32_t> batch_;  // scratch
  std::vector<Link> links_;
  std::vector<Candidate> candidates_;  // scratch
  size_t ops_left_ = 0;
  PlanBuilder plan_;
};

Simulation::Simulation(const ir::Schedule& schedule, const ir::CostModel& costs,
                       const Transfers& transfers, const WorkIndex& index,
                       const Options& options)
    : schedule_(schedule),
      costs_(costs),
      transfers_(transfers),
      index_(index),
      ranks_(schedule.ranks),
      channels_(transfers.channels().size()),
      touched_ranks_(schedule.ranks),
      touched_channels_(transfers.channels().size()),
      links_(schedule.ranks),
      plan_(schedule, transfers) {
  AddChannels(costs, options.receive_slots);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    RankState& state = ranks_[r];
    state.ops = schedule.programs[r].data();
    state.size = static_cast<uint32_t>(schedule.programs[r].size());
    state.stages = schedule.placement.stage[r].data();
    state.arrived.resize(state.size);
    ops_left_ += state.size;
    touched_ranks_.Add(r);
  }
}

void Simulation::AddChannels(const ir::CostModel& costs,
                             uint32_t receive_slots) {
  const Ticks least = LeastLatency(costs);
  for (ChannelId c = 0; c < channels_.size(); ++c) {
    const Channel& ends = transfers_.channels()[c];
    channels_[c].ends = ends;
    channels_[c].latency = std::max(costs.Transfer(ends.src, ends.dst), least);
    channels_[c].free_slots = receive_slots;
    links_[ends.src.value].channels.push_back(c);
    links_[ends.dst.value].channels.push_back(c);
  }
  for (ChannelState& channel : channels_) {
    size_t found = 0;
    for (const ChannelId c : links_[channel.ends.dst.value].channels) {
      const Channel& other = channels_[c].ends;
      if (other.src != channel.ends.dst || other.dst != channel.ends.src) {
        continue;
      }
      channel.reverse[found++] = c;
    }
  }
}

Result<Plan> Simulation::Run() {
  RunUntilQuiet();
  while (ops_left_ > 0) {
    if (!GrantSlot()) return Fail(Stuck());
    RunUntilQuiet();
  }
  return std::move(plan_).Take();
}

void Simulation::RunUntilQuiet() {
  while (true) {
    StartTransfers();
    // A transfer without latency ends now and may allow further ones: those
    // come before computations.
    if (!agenda_.empty() && agenda_.next() == now_) {
      EndNext();
      continue;
    }
    StartComputes();
    if (agenda_.empty()) return;
    now_ = agenda_.next();
    EndNext();
  }
}

// All that ends at one time: transfers before computations.
void Simulation::EndNext() {
  Agenda::Endings& endings = agenda_.TakeNext();
  const auto place = [this](const SentEnding& e) {
    return std::tuple(channels_[e.channel].ends.src, e.producer);
  };
  std::ranges::sort(endings.sent, {}, place);
  std::ranges::sort(endings.computes);
  for (const SentEnding& ending : endings.sent) EndTransfer(ending);
  for (const uint32_t rank : endings.computes) EndCompute(rank);
}

void Simulation::EndTransfer(const SentEnding& ending) {
  const Channel& channel = channels_[ending.channel].ends;
  plan_.Sent(channel.src.value, ending.producer);
  ranks_[channel.dst.value].arrived[ending.consumer] = true;
  touched_ranks_.Add(channel.dst.value);
  for (Rank end : {channel.src, channel.dst}) {
    links_[end.value].idle = true;
    for (ChannelId c : links_[end.value].channels) touched_channels_.Add(c);
  }
}

// The two of a pair end together.
void Simulation::EndCompute(uint32_t rank) {
  RankState& state = ranks_[rank];
  const bool pair = schedule_.StartsPair(Rank(rank), state.next);
  EndOp(rank);
  if (pair) EndOp(rank);
  state.running = false;
  touched_ranks_.Add(rank);
}

void Simulation::EndOp(uint32_t rank) {
  RankState& state = ranks_[rank];
  const uint32_t producer = state.next;
  const ir::Op& op = state.ops[producer];
  plan_.Compute(rank);
  ++state.next;
  --ops_left_;
  const StageId stage{state.stages[op.chunk]};
  const ChannelId input = transfers_.Input(op.kind, stage);
  if (Travels(input)) {
    ++channels_[input].free_slots;
    touched_channels_.Add(input);
  }
  const ChannelId output = transfers_.Output(op.kind, stage);
  if (output != kNoTensor) Produce(op, stage, producer, output);
}

void Simulation::Produce(const ir::Op& op, StageId stage, uint32_t producer,
                         ChannelId channel) {
  const StageId reader = Transfers::ConsumerStage(op.kind, stage);
  const MicroBatch mb{op.mb};
  const uint32_t consumer = op.kind == ir::OpKind::kF
                                ? index_.Forward(reader, mb)
                                : index_.Backward(reader, mb);
  if (channel == kLocal) {  // its rank is touched already
    ranks_[schedule_.placement.home[reader.value].rank.value]
        .arrived[consumer] = true;
    return;
  }
  channels_[channel].waiting.push({consumer, producer, now_});
  touched_channels_.Add(channel);
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
  const ChannelState& channel = channels_[c];
  return channel.free_slots > 0 && !channel.waiting.empty() &&
         links_[channel.ends.src.value].idle &&
         links_[channel.ends.dst.value].idle;
}

// The channels of which a transfer could start now, most urgent first.
void Simulation::CollectCandidates() {
  candidates_.clear();
  touched_channels_.Take(batch_);
  for (uint32_t c : batch_) {
    if (!CanStart(c)) continue;
    const Channel& channel = channels_[c].ends;
    const Waiting& first = channels_[c].waiting.top();
    candidates_.push_back({first.consumer - ranks_[channel.dst.value].next,
                           first.since, channel.src.value,
                           ranks_[channel.src.value].ops[first.producer].mb,
                           c});
  }
  std::sort(candidates_.begin(), candidates_.end());
}

// A channel of the opposite direction that can start too, if any.
ChannelId Simulation::ReverseOf(ChannelId c) const {
  for (const ChannelId other : channels_[c].reverse) {
    if (other != kLocal && CanStart(other)) return other;
  }
  return kLocal;
}

void Simulation::StartTransfer(ChannelId c) {
  ChannelState& channel = channels_[c];
  const Waiting first = channel.waiting.top();
  channel.waiting.pop();
  --channel.free_slots;
  links_[channel.ends.src.value].idle = false;
  links_[channel.ends.dst.value].idle = false;
  plan_.Transfer(channel.ends, first.producer, first.consumer);
  agenda_.At(now_ + channel.latency)
      .sent.push_back({c, first.producer, first.consumer});
}

void Simulation::StartComputes() {
  touched_ranks_.Take(batch_);
  for (uint32_t r : batch_) {
    RankState& state = ranks_[r];
    if (state.running || state.next == state.size) continue;
    const bool pair = schedule_.StartsPair(Rank(r), state.next);
    if (!HasInput(state, state.next)) continue;
    if (pair && !HasInput(state, state.next + 1)) continue;
    state.running = true;
    const ir::Op& op = state.ops[state.next];
    const uint32_t stage = state.stages[op.chunk];
    Ticks cost = costs_.Of(stage, op.kind);
    if (pair) {
      const ir::Op& other = state.ops[state.next + 1];
      cost = costs_.Pair(stage, state.stages[other.chunk], other.kind);
    }
    agenda_.At(now_ + cost).computes.push_back(r);
  }
}

ChannelId Simulation::InputOf(const RankState& state, uint32_t at) const {
  const ir::Op& op = state.ops[at];
  return transfers_.Input(op.kind, StageId{state.stages[op.chunk]});
}

bool Simulation::HasInput(const RankState& state, uint32_t at) const {
  return InputOf(state, at) == kNoTensor || state.arrived[at];
}

// Nothing runs. Of the tensors that wait for a slot, one is the next input of
// its receiver unless the operations themselves form a cycle.
bool Simulation::GrantSlot() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const RankState& state = ranks_[r];
    if (state.next == state.size) continue;
    const uint32_t last =
        state.next + (schedule_.StartsPair(Rank(r), state.next) ? 1 : 0);
    for (uint32_t at = state.next; at <= last; ++at) {
      const ChannelId c = InputOf(state, at);
      if (!Travels(c)) continue;
      ChannelState& channel = channels_[c];
      if (channel.waiting.empty() || channel.waiting.top().consumer != at) {
        continue;
      }
      ++channel.free_slots;
      touched_channels_.Add(c);
      return true;
    }
  }
  return false;
}

Status Simulation::Stuck() const {
  for (uint32_t r = 0; r < schedule_.ranks; ++r) {
    const RankState& state = ranks_[r];
    if (state.next == state.size) continue;
    return InputError(fmt::format(
        "schedule {}: operations wait for each other in a cycle; rank {} "
        "never starts {}",
        schedule_.name, r,
        ir::Describe(schedule_, Rank{r}, state.ops[state.next])));
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

Result<Plan> OrderEvents(const ir::Schedule& schedule,
                         const ir::CostModel& costs, const Transfers& transfers,
                         const WorkIndex& index, const Options& options) {
  PP_RETURN_IF_ERROR(CheckCosts(schedule, costs));
  return Simulation(schedule, costs, transfers, index, options).Run();
}

}  // namespace pp::lower
