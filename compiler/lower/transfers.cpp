#include "compiler/lower/transfers.h"

#include <algorithm>
#include <tuple>

namespace pp::lower {
namespace {

auto Key(const Channel& channel) {
  return std::make_tuple(channel.src, channel.dst, channel.payload);
}

bool Before(const Channel& a, const Channel& b) { return Key(a) < Key(b); }

// The channel of each stage's act and grad, local ones with src == dst.
std::vector<Channel> Wanted(const ir::Placement& placement, Payload payload) {
  std::vector<Channel> result(placement.stages);
  for (uint32_t s = 0; s < placement.stages; ++s) {
    const bool ends =
        payload == Payload::kAct ? s + 1 == placement.stages : s == 0;
    const Rank src = placement.home[s].rank;
    const uint32_t next = payload == Payload::kAct ? s + 1 : s - 1;
    result[s] = {src, ends ? src : placement.home[next].rank, payload};
  }
  return result;
}

}  // namespace

Transfers::Transfers(const ir::Schedule& schedule) {
  const uint32_t stages = schedule.placement.stages;
  std::vector<Channel> wanted[bytecode::kPayloadCount];
  for (Payload payload : {Payload::kAct, Payload::kGrad}) {
    auto& of = wanted[static_cast<size_t>(payload)];
    of = Wanted(schedule.placement, payload);
    for (const Channel& channel : of) {
      if (channel.src != channel.dst) channels_.push_back(channel);
    }
  }
  std::sort(channels_.begin(), channels_.end(), Before);
  channels_.erase(std::unique(channels_.begin(), channels_.end(),
                              [](const Channel& a, const Channel& b) {
                                return Key(a) == Key(b);
                              }),
                  channels_.end());
  for (size_t p = 0; p < bytecode::kPayloadCount; ++p) {
    for (const Channel& channel : wanted[p]) {
      const auto at =
          std::lower_bound(channels_.begin(), channels_.end(), channel, Before);
      output_[p].push_back(
          channel.src == channel.dst
              ? kLocal
              : static_cast<ChannelId>(at - channels_.begin()));
    }
  }
  // What a stage reads is what its neighbour writes.
  constexpr size_t kAct = static_cast<size_t>(Payload::kAct);
  constexpr size_t kGrad = static_cast<size_t>(Payload::kGrad);
  output_[kAct].back() = kNoTensor;
  output_[kGrad].front() = kNoTensor;
  input_[kAct].assign(1, kNoTensor);
  input_[kAct].insert(input_[kAct].end(), output_[kAct].begin(),
                      output_[kAct].end() - 1);
  input_[kGrad].assign(output_[kGrad].begin() + 1, output_[kGrad].end());
  input_[kGrad].resize(stages, kNoTensor);
}

}  // namespace pp::lower
