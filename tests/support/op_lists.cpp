#include "tests/support/op_lists.h"

#include <algorithm>

namespace pp::testing {

using ir::OpKind;

ir::Schedule Frame(const std::vector<std::vector<uint32_t>>& chunks,
                   uint32_t micro_batches) {
  ir::Schedule s;
  s.name = "test";
  s.ranks = static_cast<uint32_t>(chunks.size());
  s.micro_batches = micro_batches;
  s.params = {{"P", s.ranks}, {"M", micro_batches}};
  s.placement.text = "custom";
  s.placement.stage = chunks;
  for (const auto& held : chunks) {
    s.placement.stages += static_cast<uint32_t>(held.size());
  }
  s.placement.home.resize(s.placement.stages);
  for (uint32_t r = 0; r < s.ranks; ++r) {
    for (uint32_t c = 0; c < chunks[r].size(); ++c) {
      s.placement.home[chunks[r][c]] = {Rank(r), c};
    }
  }
  s.programs.resize(s.ranks);
  return s;
}

ir::Schedule LoopFrame(uint32_t ranks, uint32_t micro_batches, uint32_t v) {
  std::vector<std::vector<uint32_t>> chunks(ranks);
  for (uint32_t s = 0; s < ranks * v; ++s) chunks[s % ranks].push_back(s);
  return Frame(chunks, micro_batches);
}

ir::Schedule LinearFrame(uint32_t ranks, uint32_t micro_batches) {
  return LoopFrame(ranks, micro_batches, 1);
}

void Add(ir::Schedule& schedule, uint32_t rank, OpKind kind, uint32_t mb,
         uint32_t chunk) {
  const auto site = static_cast<uint32_t>(schedule.sites.size());
  schedule.sites.push_back({});
  schedule.programs[rank].push_back(
      {kind, static_cast<uint16_t>(chunk), mb, site, 0});
}

ir::Schedule GPipe(uint32_t ranks, uint32_t micro_batches) {
  ir::Schedule s = LinearFrame(ranks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    for (uint32_t m = 0; m < micro_batches; ++m) Add(s, r, OpKind::kF, m);
    for (uint32_t m = 0; m < micro_batches; ++m) Add(s, r, OpKind::kB, m);
  }
  return s;
}

ir::Schedule OneFOneB(uint32_t ranks, uint32_t micro_batches, bool eager) {
  ir::Schedule s = LinearFrame(ranks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t after = ranks - 1 - r;
    const uint32_t warmup = std::min((eager ? 2 : 1) * after, micro_batches);
    uint32_t f = 0, b = 0;
    while (f < warmup) Add(s, r, OpKind::kF, f++);
    while (f < micro_batches) {
      Add(s, r, OpKind::kF, f++);
      Add(s, r, OpKind::kB, b++);
    }
    while (b < micro_batches) Add(s, r, OpKind::kB, b++);
  }
  return s;
}

ir::Schedule Interleaved(uint32_t ranks, uint32_t micro_batches, uint32_t v) {
  ir::Schedule s = LoopFrame(ranks, micro_batches, v);
  const uint32_t total = micro_batches * v;
  // The k-th operation of a direction: rounds of `ranks` micro-batches.
  const auto mb = [&](uint32_t k) {
    return k / (ranks * v) * ranks + k % ranks;
  };
  const auto chunk = [&](uint32_t k) { return k / ranks % v; };
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t warmup =
        std::min(2 * (ranks - 1 - r) + (v - 1) * ranks, total);
    uint32_t f = 0, b = 0;
    const auto forward = [&] {
      Add(s, r, OpKind::kF, mb(f), chunk(f));
      ++f;
    };
    const auto backward = [&] {
      Add(s, r, OpKind::kB, mb(b), v - 1 - chunk(b));
      ++b;
    };
    while (f < warmup) forward();
    while (f < total) {
      forward();
      backward();
    }
    while (b < total) backward();
  }
  return s;
}

ir::Schedule ZbH1(uint32_t ranks, uint32_t micro_batches) {
  ir::Schedule s = LinearFrame(ranks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t after = ranks - 1 - r;
    uint32_t f = 0, i = 0, w = 0;
    while (f < after) Add(s, r, OpKind::kF, f++);
    while (f < after + r) {
      Add(s, r, OpKind::kF, f++);
      Add(s, r, OpKind::kI, i++);
    }
    while (f < micro_batches) {
      Add(s, r, OpKind::kF, f++);
      Add(s, r, OpKind::kI, i++);
      Add(s, r, OpKind::kW, w++);
    }
    while (i < micro_batches) {
      Add(s, r, OpKind::kI, i++);
      Add(s, r, OpKind::kW, w++);
    }
    while (w < micro_batches) Add(s, r, OpKind::kW, w++);
  }
  return s;
}

}  // namespace pp::testing
