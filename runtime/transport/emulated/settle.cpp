// What can start, starts: the rules of emulated.h.
#include <algorithm>
#include <cstring>

#include "runtime/transport/emulated/machine.h"

namespace pp::transport::emulated {

void Machine::Settle() {
  for (bool moved = true; moved;) {
    moved = false;
    for (RankState& state : ranks_) {
      // Starting an entry takes it out of the list.
      for (size_t i = 0; i < state.entries.size(); ++i) {
        Entry& entry = *state.entries[i];
        if (!AtHead(entry) || !TryHead(entry)) continue;
        moved = true;
        break;
      }
    }
  }
}

bool Machine::AtHead(const Entry& entry) const {
  const RankState& state = ranks_[entry.rank.value];
  return std::all_of(
      entry.queues.begin(), entry.queues.end(),
      [&](uint64_t queue) { return state.queues.at(queue).front() == &entry; });
}

// An entry at the head of its queues. True: it has started, and is done.
bool Machine::TryHead(Entry& entry) {
  if (rules_.eager && entry.sum == nullptr) return TryEager(entry);
  std::set<Entry*> together;
  if (!Gather(entry, together)) return false;
  for (Entry* const each : together) {
    for (const auto& end : each->ends) {
      if (end->is_send) HandOver(*end, *PartnerOf(*end));
    }
  }
  if (entry.sum != nullptr) AddUp(*entry.sum);
  for (Entry* const each : together) Finish(*each);
  return true;
}

// All that has to start with `entry`; false: some of it cannot.
bool Machine::Gather(Entry& entry, std::set<Entry*>& together) {
  if (!together.insert(&entry).second) return true;
  if (!AtHead(entry)) return false;
  if (entry.sum != nullptr) {
    const auto& sum = *entry.sum;
    if (sum.entries.size() < sum.orders.begin()->second.size()) return false;
    return std::all_of(
        sum.entries.begin(), sum.entries.end(),
        [&](const auto& each) { return Gather(*each.second, together); });
  }
  return std::all_of(
      entry.ends.begin(), entry.ends.end(), [&](const auto& end) {
        const End* const partner = PartnerOf(*end);
        return partner != nullptr && Gather(*partner->entry, together);
      });
}

// The other end, if it has been issued.
End* Machine::PartnerOf(const End& end) {
  Channel& channel = ChannelOf(end);
  auto& others = end.is_send ? channel.receives : channel.sends;
  for (const auto& other : others) {
    if (other->number == end.number) return other.get();
  }
  return nullptr;
}

// There are no tags: whatever the two say that they carry.
void Machine::HandOver(End& send, End& receive) {
  receive.buffer = send.buffer;
}

// The sends of a group go out when it is at the head; it is done when all it
// receives has come.
bool Machine::TryEager(Entry& entry) {
  bool all = true;
  for (const auto& end : entry.ends) {
    if (end->done) continue;
    Channel& channel = ChannelOf(*end);
    auto& letters = channel.letters;
    if (end->is_send) {
      letters.emplace_back(end->number, end->buffer);
      end->done = true;
      continue;
    }
    const auto letter = std::find_if(
        letters.begin(), letters.end(),
        [&](const auto& each) { return each.first == end->number; });
    if (letter == letters.end()) {
      all = false;
      continue;
    }
    end->buffer = letter->second;
    letters.erase(letter);
    end->done = true;
  }
  if (all) Finish(entry);
  return all;
}

void Machine::Finish(Entry& entry) {
  RankState& state = ranks_[entry.rank.value];
  for (const auto& end : entry.ends) {
    end->done = true;
    Channel& channel = ChannelOf(*end);
    auto& open = end->is_send ? channel.sends : channel.receives;
    open.erase(std::find(open.begin(), open.end(), end));
  }
  for (const uint64_t queue : entry.queues) state.queues[queue].pop_front();
  state.state = State::kRuns;  // or waits again, for something else
  state.bell.notify_all();
  const auto self =
      std::find_if(state.entries.begin(), state.entries.end(),
                   [&](const auto& each) { return each.get() == &entry; });
  state.entries.erase(self);
}

void Machine::AddUp(Sum& sum) {
  const std::vector<Rank>& order = sum.orders.begin()->second;
  const size_t bytes = sum.parts.at(order.front()).bytes;
  for (const Rank rank : order) {
    if (sum.orders.at(rank) != order) {
      sum.failure = RankError("a sum whose ranks list them in other orders");
    } else if (sum.parts.at(rank).bytes != bytes) {
      sum.failure = RankError(fmt::format(
          "a sum to which rank {} brings {} bytes and rank {} brings {}",
          order.front().value, bytes, rank.value, sum.parts.at(rank).bytes));
    }
  }
  sum.done = true;
  if (!sum.failure.ok()) return;
  sum.result.resize(bytes / sizeof(float));
  std::memcpy(sum.result.data(), sum.parts.at(order.front()).data, bytes);
  for (size_t i = 1; i < order.size(); ++i) {
    const Buffer& part = sum.parts.at(order[i]);
    for (size_t k = 0; k < sum.result.size(); ++k) {
      float value = 0;
      std::memcpy(&value, part.data + k * sizeof(float), sizeof(float));
      sum.result[k] += value;
    }
  }
}

}  // namespace pp::transport::emulated
