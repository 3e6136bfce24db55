// Strong index types: a rank is not a stage is not a micro-batch.
//
// Each is one unsigned integer that converts to nothing by itself; `.value`
// is the index. No signature of this project takes a bare int for one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pp {

template <class Tag>
struct Index {
  uint32_t value = 0;

  constexpr Index() = default;
  explicit constexpr Index(uint32_t v) : value(v) {}
  friend constexpr auto operator<=>(Index, Index) = default;
};

using Rank = Index<struct RankTag>;      // 0 .. P-1
using StageId = Index<struct StageTag>;  // 0 .. S-1, in model order
using ChunkId = Index<struct ChunkTag>;  // local to a rank: 0 .. chunks-1
using MicroBatch = Index<struct MbTag>;  // 0 .. M-1
using SlotId = Index<struct SlotTag>;    // boundary-tensor slot of a rank
using StashId = Index<struct StashTag>;  // stashed activations of a rank
using LaneId = Index<struct LaneTag>;    // a communicator
using GroupId = Index<struct GroupTag>;  // a set of ranks of a collective
using Pc = Index<struct PcTag>;          // instruction index in a rank

}  // namespace pp

template <class Tag>
struct std::hash<pp::Index<Tag>> {
  size_t operator()(pp::Index<Tag> i) const noexcept { return i.value; }
};
