#include "compiler/analysis/receive_slots.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/analysis/in_order.h"

namespace pp::analysis {
namespace {

using ir::OpKind;

struct Channel {
  uint32_t sent = 0;  // so far
  uint32_t read = 0;
  uint32_t come = 0;  // that must have come for what is read so far
  uint32_t least = 1;
};

class Counter {
 public:
  explicit Counter(const ir::Schedule& schedule)
      : schedule_(schedule),
        place_(2 * size_t{schedule.placement.stages} * schedule.micro_batches) {
  }

  std::vector<ReceiveSlots> Run() {
    ForEach([&](Rank rank, uint32_t stage, const ir::Op& op) {
      const auto reader = ReaderOf(schedule_, stage, op.kind);
      if (!reader || RankOf(*reader) == rank) return;
      Channel& channel = ChannelOf(rank, RankOf(*reader), op.kind);
      PlaceOf(stage, op) = ++channel.sent;
    });
    ForEach([&](Rank rank, uint32_t stage, const ir::Op& op) {
      const auto need = NeedOf(schedule_, stage, op.kind);
      if (!need || RankOf(need->stage) == rank) return;
      Channel& channel = ChannelOf(RankOf(need->stage), rank, op.kind);
      channel.come = std::max(channel.come, PlaceOf(need->stage, op));
      channel.least = std::max(channel.least, channel.come - channel.read);
      ++channel.read;
    });
    std::vector<ReceiveSlots> slots;
    for (const auto& [key, channel] : channels_) {
      const auto& [from, to, backward] = key;
      slots.push_back({from, to, !backward, channel.least});
    }
    return slots;
  }

 private:
  template <typename Visit>
  void ForEach(Visit visit) {
    for (uint32_t r = 0; r < schedule_.ranks; ++r) {
      for (const ir::Op& op : schedule_.programs[r]) {
        visit(Rank(r), schedule_.StageOf(Rank(r), op.chunk), op);
      }
    }
  }
  Rank RankOf(uint32_t stage) const {
    return schedule_.placement.home[stage].rank;
  }
  Channel& ChannelOf(Rank from, Rank to, OpKind kind) {
    return channels_[{from, to, kind != OpKind::kF}];
  }
  // Of the output of `stage`, counted from 1 in the order of its channel.
  uint32_t& PlaceOf(uint32_t stage, const ir::Op& op) {
    const size_t backward = op.kind == OpKind::kF ? 0 : 1;
    return place_[(backward * schedule_.placement.stages + stage) *
                      schedule_.micro_batches +
                  op.mb];
  }

  const ir::Schedule& schedule_;
  std::vector<uint32_t> place_;
  std::map<std::tuple<Rank, Rank, bool>, Channel> channels_;
};

}  // namespace

std::vector<ReceiveSlots> LeastReceiveSlots(const ir::Schedule& schedule) {
  return Counter(schedule).Run();
}

}  // namespace pp::analysis
