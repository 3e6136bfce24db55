#include "compiler/lower/group_exchanges.h"

namespace pp::lower {
namespace {

constexpr size_t kNothing = static_cast<size_t>(-1);

}  // namespace

void GroupExchanges(uint32_t ranks, const Transfers& transfers,
                    std::vector<Event>& events) {
  // The last transfer of each rank since its last computation.
  std::vector<size_t> last(ranks, kNothing);
  for (size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    if (event.kind == EventKind::kCompute) last[event.rank] = kNothing;
    if (event.kind != EventKind::kTransfer) continue;
    const Channel& channel =
        transfers.channels()[transfers.ChannelOf(event.id)];
    size_t& src = last[channel.src.value];
    size_t& dst = last[channel.dst.value];
    // The same event was last on both ranks: it is a transfer between them.
    if (src == dst && src != kNothing &&
        events[src].group == GroupMark::kNone &&
        events[src].rank == channel.dst.value) {
      events[src].group = GroupMark::kFirst;
      event.group = GroupMark::kLast;
    }
    src = dst = i;
  }
}

}  // namespace pp::lower
