#include "runtime/transport/inproc/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pp::transport::inproc {
namespace {

std::string ListText(const std::vector<Rank>& ranks) {
  std::string text;
  for (Rank rank : ranks) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rank.value);
  }
  return text;
}

size_t PositionOf(const std::vector<Rank>& order, Rank rank) {
  return static_cast<size_t>(std::find(order.begin(), order.end(), rank) -
                             order.begin());
}

// memcpy, as a Buffer's bytes need not be aligned for float.
float FloatAt(const Buffer& buffer, size_t index) {
  float value;
  std::memcpy(&value, buffer.data + index * sizeof(float), sizeof(float));
  return value;
}

void AddUp(Round& round) {
  const size_t count = round.parts.front().bytes / sizeof(float);
  round.sum.resize(count);
  for (size_t i = 0; i < count; ++i) {
    round.sum[i] = FloatAt(round.parts.front(), i);
  }
  for (size_t p = 1; p < round.parts.size(); ++p) {
    for (size_t i = 0; i < count; ++i) {
      round.sum[i] += FloatAt(round.parts[p], i);
    }
  }
}

Status CheckParts(const Round& round) {
  for (size_t p = 0; p < round.parts.size(); ++p) {
    const size_t bytes = round.parts[p].bytes;
    if (bytes != round.parts.front().bytes || bytes % sizeof(float) != 0) {
      return RankError(fmt::format(
          "sum over ranks {}: rank {} brings {} bytes, rank {} brings {}",
          ListText(round.order), round.order[p].value, bytes,
          round.order.front().value, round.parts.front().bytes));
    }
  }
  return OkStatus();
}

void Complete(Round& round) {
  if (round.failure.ok()) round.failure = CheckParts(round);
  if (!round.marks.front()) {
    if (round.failure.ok()) AddUp(round);
    for (Buffer& part : round.parts) part = Buffer{};
  }
  round.done.store(true, std::memory_order_release);
}

}  // namespace

std::shared_ptr<Round> Collectives::Join(Rank self, std::span<const Rank> ranks,
                                         const Buffer& part,
                                         const device::Mark& mark) {
  const std::vector<Rank> order(ranks.begin(), ranks.end());
  std::vector<Rank> key = order;
  std::sort(key.begin(), key.end());
  std::lock_guard lock(mutex_);
  std::shared_ptr<Round>& current = rounds_[key];
  if (current == nullptr) {
    current = std::make_shared<Round>();
    current->order = order;
    current->parts.resize(order.size());
    current->arrived.resize(order.size());
    current->marks.resize(order.size());
  }
  const std::shared_ptr<Round> round = current;
  if (round->order != order && round->failure.ok()) {
    round->failure = RankError(fmt::format(
        "sum over the same ranks in two orders: rank {} lists {}, another one "
        "{}",
        self.value, ListText(order), ListText(round->order)));
  }
  const size_t position = PositionOf(round->order, self);
  round->parts[position] = part;
  round->marks[position] = mark;
  round->arrived[position] = true;
  if (std::find(round->arrived.begin(), round->arrived.end(), false) ==
      round->arrived.end()) {
    Complete(*round);
    current = nullptr;
  }
  return round;
}

void Collectives::Leave(Rank self, Round& round) {
  std::lock_guard lock(mutex_);
  round.parts[PositionOf(round.order, self)] = Buffer{};
}

}  // namespace pp::transport::inproc
