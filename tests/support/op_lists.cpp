#include "tests/support/op_lists.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

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

namespace {

using ChunkAndMb = std::pair<uint32_t, uint32_t>;

// Groups of `n` micro-batches, in each all chunks one after the other.
std::vector<ChunkAndMb> InGroups(uint32_t micro_batches, uint32_t v, uint32_t n,
                                 bool chunks_down) {
  std::vector<ChunkAndMb> order;
  for (uint32_t first = 0; first < micro_batches; first += n) {
    const uint32_t end = std::min(first + n, micro_batches);
    for (uint32_t c = 0; c < v; ++c) {
      for (uint32_t m = first; m < end; ++m) {
        order.push_back({chunks_down ? v - 1 - c : c, m});
      }
    }
  }
  return order;
}

// `warmup` forwards, then one forward and one backward in turn.
void FillAndPair(ir::Schedule& s, uint32_t r, uint32_t warmup,
                 const std::vector<ChunkAndMb>& f,
                 const std::vector<ChunkAndMb>& b) {
  for (size_t k = 0; k < f.size() + warmup; ++k) {
    if (k < f.size()) Add(s, r, OpKind::kF, f[k].second, f[k].first);
    if (k < warmup || k - warmup >= b.size()) continue;
    Add(s, r, OpKind::kB, b[k - warmup].second, b[k - warmup].first);
  }
}

// The same with the backward split, W following `delay` input gradients late.
void FillAndSplit(ir::Schedule& s, uint32_t r, uint32_t warmup, uint32_t delay,
                  const std::vector<ChunkAndMb>& f,
                  const std::vector<ChunkAndMb>& b) {
  for (size_t k = 0; k < warmup; ++k) {
    Add(s, r, OpKind::kF, f[k].second, f[k].first);
  }
  for (size_t i = 0; i < b.size() + delay; ++i) {
    const size_t k = i + warmup;
    if (k < f.size()) Add(s, r, OpKind::kF, f[k].second, f[k].first);
    if (i < b.size()) Add(s, r, OpKind::kI, b[i].second, b[i].first);
    if (i < delay) continue;
    Add(s, r, OpKind::kW, b[i - delay].second, b[i - delay].first);
  }
}

}  // namespace

ir::Schedule ZbH2(uint32_t ranks, uint32_t micro_batches) {
  ir::Schedule s = LinearFrame(ranks, micro_batches);
  const auto order = InGroups(micro_batches, 1, micro_batches, false);
  for (uint32_t r = 0; r < ranks; ++r) {
    FillAndSplit(s, r, 2 * (ranks - 1 - r), 2 * r, order, order);
  }
  return s;
}

ir::Schedule InterleavedZb(uint32_t ranks, uint32_t micro_batches, uint32_t v) {
  ir::Schedule s = LoopFrame(ranks, micro_batches, v);
  const auto f = InGroups(micro_batches, v, ranks, false);
  const auto b = InGroups(micro_batches, v, ranks, true);
  for (uint32_t r = 0; r < ranks; ++r) {
    FillAndSplit(s, r, (v - 1) * ranks + ranks - 1 - r, r, f, b);
  }
  return s;
}

ir::Schedule ZbV(uint32_t ranks, uint32_t micro_batches) {
  std::vector<std::vector<uint32_t>> chunks;
  for (uint32_t r = 0; r < ranks; ++r) chunks.push_back({r, 2 * ranks - 1 - r});
  ir::Schedule s = Frame(chunks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t f[2] = {}, i[2] = {}, w[2] = {};
    const auto forward = [&](uint32_t c) { Add(s, r, OpKind::kF, f[c]++, c); };
    const auto input = [&](uint32_t c) { Add(s, r, OpKind::kI, i[c]++, c); };
    const auto weight = [&](uint32_t c) { Add(s, r, OpKind::kW, w[c]++, c); };
    const auto both = [&](uint32_t c) { input(c), weight(c); };
    while (f[0] < 2 * (ranks - r) - 1) forward(0);
    while (f[1] < r) forward(1), forward(0);
    while (f[1] < ranks) forward(1), both(1);
    while (f[1] < micro_batches) {
      if (f[0] < micro_batches) forward(0);
      both(0), forward(1), both(1);
    }
    for (uint32_t k = 0; k < r; ++k) input(0), input(1);
    while (i[0] < micro_batches) both(0);
    while (w[1] < micro_batches) weight(1);
    while (w[0] < micro_batches) weight(0);
  }
  return s;
}

// The steps of dualpipev.py, with its names of them.
ir::Schedule DualPipeV(uint32_t ranks, uint32_t micro_batches) {
  std::vector<std::vector<uint32_t>> chunks;
  for (uint32_t r = 0; r < ranks; ++r) chunks.push_back({r, 2 * ranks - 1 - r});
  ir::Schedule s = Frame(chunks, micro_batches);
  s.paired.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t f[2] = {}, b[2] = {};
    std::vector<std::pair<uint32_t, uint32_t>> owed;
    size_t paid = 0;
    const auto forward = [&](uint32_t c) { Add(s, r, OpKind::kF, f[c]++, c); };
    const auto backward = [&](uint32_t c, bool zero_bubble) {
      if (zero_bubble) owed.push_back({b[c], c});
      Add(s, r, zero_bubble ? OpKind::kI : OpKind::kB, b[c]++, c);
    };
    const auto weight = [&] {
      Add(s, r, OpKind::kW, owed[paid].first, owed[paid].second);
      ++paid;
    };
    const auto at_once = [&](uint32_t c) {
      s.paired[r].resize(s.programs[r].size() + 1);
      s.paired[r].back() = true;
      forward(c);
      backward(1 - c, false);
    };
    const uint32_t others = ranks - r - 1;
    for (uint32_t k = 0; k < 2 * others; ++k) forward(0);      // 1
    for (uint32_t k = 0; k <= r; ++k) forward(0), forward(1);  // 2
    for (uint32_t k = 0; k < others; ++k) {                    // 3
      backward(1, true), weight(), forward(1);
    }
    for (uint32_t k = 0; k < micro_batches - ranks - others; ++k) {  // 4
      if (k == 0 && others == 0) {
        forward(0), backward(1, false);
      } else {
        at_once(0);
      }
      at_once(1);
    }
    for (uint32_t k = 0; k < others; ++k) backward(1, false), at_once(1);  // 5
    bool zero_bubble = false;
    for (uint32_t k = 0; k <= r; ++k) {  // 6
      const bool here = k == (r + 1) / 2;
      zero_bubble = zero_bubble || (here && r % 2 == 1);
      backward(1, zero_bubble);
      zero_bubble = zero_bubble || here;
      backward(0, zero_bubble);
    }
    for (uint32_t k = 0; k < others; ++k) weight(), backward(0, true);  // 7
    for (uint32_t k = 0; k <= r; ++k) weight();                         // 8
  }
  return s;
}

namespace {

struct VOp {
  char kind;  // F, I, W
  int chunk, mb;
  friend auto operator<=>(const VOp&, const VOp&) = default;
};

// The slots of F0, F1, I1, I0 of micro-batch 0 on a rank.
using VBlock = std::array<int, 4>;

std::vector<VOp> LayOut(const VBlock& block, int micro_batches) {
  std::map<int, VOp> at;
  for (int m = 0; m < micro_batches; ++m) {
    at[block[0] + 6 * m] = {'F', 0, m};
    at[block[1] + 6 * m] = {'F', 1, m};
    at[block[2] + 6 * m] = {'I', 1, m};
    at[block[3] + 6 * m] = {'I', 0, m};
  }
  std::vector<VOp> order, owed;
  const int last = at.rbegin()->first;
  for (int t = 0; t <= last || !owed.empty(); ++t) {
    if (at.contains(t)) {
      order.push_back(at[t]);
      if (at[t].kind == 'I') owed.push_back({'W', at[t].chunk, at[t].mb});
    } else if (!owed.empty()) {
      order.push_back(owed.front());
      owed.erase(owed.begin());
    }
  }
  return order;
}

int Held(const std::vector<VOp>& order, size_t end) {
  int held = 0;
  for (size_t i = 0; i < end; ++i) {
    held += order[i].kind == 'F' ? 1 : order[i].kind == 'W' ? -1 : 0;
  }
  return held;
}

int MostHeld(const std::vector<VOp>& order) {
  int most = 0;
  for (size_t i = 1; i <= order.size(); ++i) {
    most = std::max(most, Held(order, i));
  }
  return most;
}

// One slot after another; each rank takes what the rule of `block` says.
class VMachine {
 public:
  VMachine(int ranks, std::vector<std::vector<VOp>> left)
      : ranks_(ranks), left_(std::move(left)), ran_(left_.size()) {
    for (const auto& order : left_) most_.push_back(MostHeld(order));
  }

  std::vector<std::vector<VOp>> Run() {
    for (bool any = true; any; ++now_) {
      std::vector<std::pair<int, size_t>> picks;
      for (int r = 0; r < ranks_; ++r) {
        if (const auto i = Pick(r)) picks.push_back({r, *i});
      }
      for (const auto& [r, i] : picks) {
        const VOp op = left_[r][i];
        left_[r].erase(left_[r].begin() + std::ptrdiff_t(i));
        ran_[r].push_back(op);
        done_[{op.kind, Stage(r, op), op.mb}] = now_ + 1;
      }
      any = !picks.empty();
    }
    return std::move(ran_);
  }

 private:
  int Stage(int r, const VOp& op) const {
    return op.chunk == 0 ? r : 2 * ranks_ - 1 - r;
  }
  bool Done(char kind, int stage, int mb) const {
    const auto found = done_.find({kind, stage, mb});
    return found != done_.end() && found->second <= now_;
  }
  bool Ready(int r, const VOp& op) const {
    const int stage = Stage(r, op);
    if (op.kind == 'F') return stage == 0 || Done('F', stage - 1, op.mb);
    if (op.kind == 'W') return Done('I', stage, op.mb);
    return Done('F', stage, op.mb) &&
           (stage == 2 * ranks_ - 1 || Done('I', stage + 1, op.mb));
  }

  std::optional<size_t> Pick(int r) const {
    const auto& left = left_[r];
    std::optional<size_t> first, input;
    for (size_t i = 0; i < left.size(); ++i) {
      if (!Ready(r, left[i])) continue;
      if (left[i].kind == 'F' && i > 0) {
        std::vector<VOp> moved = ran_[r];
        moved.push_back(left[i]);
        moved.insert(moved.end(), left.begin(),
                     left.begin() + std::ptrdiff_t(i));
        if (MostHeld(moved) > most_[r]) continue;
      }
      if (!first) first = i;
      if (left[i].kind == 'I') {
        input = i;
        break;
      }
    }
    if (!first || left[*first].kind != 'W' || !input) return first;
    const bool forward_before =
        std::any_of(left.begin(), left.begin() + std::ptrdiff_t(*input),
                    [](const VOp& op) { return op.kind == 'F'; });
    return forward_before ? first : input;
  }

  int ranks_;
  std::vector<std::vector<VOp>> left_, ran_;
  std::vector<int> most_;
  std::map<std::tuple<char, int, int>, int> done_;
  int now_ = 0;
};

ir::Schedule FromBlock(uint32_t ranks, uint32_t micro_batches,
                       const std::function<VBlock(int)>& block) {
  std::vector<std::vector<uint32_t>> chunks;
  std::vector<std::vector<VOp>> orders;
  for (uint32_t r = 0; r < ranks; ++r) {
    chunks.push_back({r, 2 * ranks - 1 - r});
    orders.push_back(
        LayOut(block(static_cast<int>(r)), static_cast<int>(micro_batches)));
  }
  ir::Schedule s = Frame(chunks, micro_batches);
  orders = VMachine(static_cast<int>(ranks), std::move(orders)).Run();
  for (uint32_t r = 0; r < ranks; ++r) {
    for (const VOp& op : orders[r]) {
      const OpKind kind = op.kind == 'F'   ? OpKind::kF
                          : op.kind == 'I' ? OpKind::kI
                                           : OpKind::kW;
      Add(s, r, kind, static_cast<uint32_t>(op.mb),
          static_cast<uint32_t>(op.chunk));
    }
  }
  return s;
}

}  // namespace

ir::Schedule VHalf(uint32_t ranks, uint32_t micro_batches) {
  const int p = static_cast<int>(ranks), gap = p % 2 == 0 ? 3 : 0;
  return FromBlock(ranks, micro_batches, [=](int r) {
    return VBlock{2 * r, 3 * p - 2 - r, 3 * p + gap + 2 * r - 1,
                  6 * p + gap - 2 - r};
  });
}

ir::Schedule VMin(uint32_t ranks, uint32_t micro_batches) {
  const int p = static_cast<int>(ranks), gap = p % 3 == 0 ? 2 : 0;
  return FromBlock(ranks, micro_batches, [=](int r) {
    return VBlock{r, 2 * p - 1 - r, 2 * p + gap + r, 4 * p + gap - 1 - r};
  });
}

// Every operation is put where its slot says; an operation that
// another one overwrites is missing, which comparing orders finds.
ir::Schedule Hanayo(uint32_t ranks, uint32_t micro_batches, uint32_t w) {
  const uint32_t stages = 2 * w * ranks;
  std::vector<std::vector<uint32_t>> chunks(ranks);
  for (uint32_t turn = 0; turn < 2 * w; turn += 2) {
    for (uint32_t r = 0; r < ranks; ++r) {
      chunks[r].push_back(turn * ranks + r);
      chunks[r].push_back((turn + 2) * ranks - 1 - r);
    }
  }
  ir::Schedule s = Frame(chunks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    struct Work {
      OpKind kind;
      uint32_t mb, chunk;
    };
    std::map<uint32_t, Work> slots;
    for (uint32_t c = 0; c < 2 * w; ++c) {
      for (uint32_t m = 0; m < micro_batches; ++m) {
        const uint32_t begin = 2 * stages * (m / ranks) + 2 * (m % ranks);
        const uint32_t mirror = 2 * stages - 1 - chunks[r][c];
        slots[begin + chunks[r][c]] = {OpKind::kF, m, c};
        slots[begin + mirror] = {OpKind::kB, m, c};
      }
    }
    for (const auto& [slot, work] : slots) {
      Add(s, r, work.kind, work.mb, work.chunk);
    }
  }
  return s;
}

ir::Schedule BreadthFirst(uint32_t ranks, uint32_t micro_batches, uint32_t v) {
  ir::Schedule s = LoopFrame(ranks, micro_batches, v);
  for (uint32_t r = 0; r < ranks; ++r) {
    FillAndPair(s, r, micro_batches * v,
                InGroups(micro_batches, v, micro_batches, false),
                InGroups(micro_batches, v, micro_batches, true));
  }
  return s;
}

ir::Schedule InterleavedGroups(uint32_t ranks, uint32_t micro_batches,
                               uint32_t v, uint32_t n) {
  ir::Schedule s = LoopFrame(ranks, micro_batches, v);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t warmup =
        std::min(2 * (ranks - 1 - r) + (v - 1) * n, micro_batches * v);
    FillAndPair(s, r, warmup, InGroups(micro_batches, v, n, false),
                InGroups(micro_batches, v, n, true));
  }
  return s;
}

}  // namespace pp::testing
