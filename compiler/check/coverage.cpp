#include "compiler/check/coverage.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace pp::check {

using ir::OpKind;

namespace {

unsigned Shift(OpKind kind) { return 2 * static_cast<unsigned>(kind); }

using Key = std::tuple<CoverageFault, OpKind, uint32_t>;  // ..., chunk
using Findings = std::map<Key, RankedSets>;

class Judge {
 public:
  explicit Judge(const Coverage& coverage) : coverage_(coverage) {}

  void Look(const Holder& holder) {
    bool split = false;
    for (uint32_t m = 0; m < coverage_.micro_batches(); ++m) {
      split = split || Times(holder.stage, m, OpKind::kI) > 0;
    }
    for (uint32_t m = 0; m < coverage_.micro_batches(); ++m) {
      LookAt(holder, m, split);
    }
  }

  std::vector<CoverageFinding> Take() {
    std::vector<CoverageFinding> found;
    for (auto& [key, where] : findings_) {
      const auto& [fault, kind, chunk] = key;
      found.push_back({fault, kind, chunk, std::move(where)});
    }
    return found;
  }

 private:
  unsigned Times(uint32_t stage, uint32_t mb, OpKind kind) const {
    return coverage_.Times(stage, mb, kind);
  }

  void LookAt(const Holder& h, uint32_t mb, bool split) {
    const unsigned b = Times(h.stage, mb, OpKind::kB);
    const unsigned i = Times(h.stage, mb, OpKind::kI);
    const unsigned w = Times(h.stage, mb, OpKind::kW);
    if (Times(h.stage, mb, OpKind::kF) == 0) {
      Add(CoverageFault::kMissing, OpKind::kF, h, mb);
    }
    for (const OpKind kind : {OpKind::kF, OpKind::kB, OpKind::kI, OpKind::kW}) {
      if (Times(h.stage, mb, kind) > 1) {
        Add(CoverageFault::kDoubled, kind, h, mb);
      }
    }
    if (b > 0) {
      if (i > 0) Add(CoverageFault::kBesides, OpKind::kI, h, mb);
      if (w > 0) Add(CoverageFault::kBesides, OpKind::kW, h, mb);
    } else if (i > 0 || w > 0 || split) {
      if (i == 0) Add(CoverageFault::kMissing, OpKind::kI, h, mb);
      if (w == 0) Add(CoverageFault::kMissing, OpKind::kW, h, mb);
    } else {
      Add(CoverageFault::kMissing, OpKind::kB, h, mb);
    }
  }

  void Add(CoverageFault fault, OpKind kind, const Holder& h, uint32_t mb) {
    RankedSets& sets = findings_[{fault, kind, h.chunk}];
    if (sets.empty() || sets.back().first != h.rank) {
      sets.push_back({h.rank, {}});
    }
    sets.back().second.push_back(mb);
  }

  const Coverage& coverage_;
  Findings findings_;
};

}  // namespace

void Coverage::Count(uint32_t stage, uint32_t mb, OpKind kind) {
  if (Times(stage, mb, kind) == 3) return;
  cells_[size_t{stage} * micro_batches_ + mb] += uint8_t(1u << Shift(kind));
}

unsigned Coverage::Times(uint32_t stage, uint32_t mb, OpKind kind) const {
  return cells_[size_t{stage} * micro_batches_ + mb] >> Shift(kind) & 3u;
}

std::vector<CoverageFinding> FindFaults(const Coverage& coverage,
                                        const std::vector<Holder>& holders) {
  Judge judge(coverage);
  for (const Holder& holder : holders) judge.Look(holder);
  return judge.Take();
}

std::string Message(const CoverageFinding& f) {
  const std::string op =
      fmt::format("`{}[{}]`", ir::kOpNames[size_t(f.kind)], f.chunk);
  switch (f.fault) {
    case CoverageFault::kMissing:
      return Join(f.where, op + " missing for");
    case CoverageFault::kDoubled:
      return Join(f.where, op + " runs more than once for");
    case CoverageFault::kBesides:
      return Join(f.where, fmt::format("{} runs besides `B[{}]`, which includes"
                                       " it, for",
                                       op, f.chunk));
  }
  return {};
}

std::string HelpText(const CoverageFinding& f) {
  const std::string_view op = ir::kOpNames[size_t(f.kind)];
  switch (f.fault) {
    case CoverageFault::kMissing:
      return fmt::format(
          "each stage needs, for every micro-batch, one `F` and one `B`, or "
          "one `F`, one `I` and one `W`: count how often this `{}` is "
          "repeated",
          op);
    case CoverageFault::kDoubled:
      return fmt::format(
          "a second `{}` of the same micro-batch would count its gradient "
          "twice: take one away",
          op);
    case CoverageFault::kBesides:
      return "a micro-batch of a stage goes back either with one `B`, or with "
             "one `I` and one `W`";
  }
  return {};
}

}  // namespace pp::check
