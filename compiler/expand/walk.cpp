#include "compiler/expand/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace pp::expand {
namespace {

class Sorter {
 public:
  Sorter(const sema::Walk& walk, Instance& instance, uint32_t chunks)
      : walk_(walk),
        eval_(instance.eval()),
        width_(walk.key.size()),
        chunks_(chunks),
        micro_batches_(instance.micro_batches()) {}

  // By pair: chunk * M + micro-batch. False after a fault of a key.
  bool EvalKeys(uint32_t rank) {
    eval_.Var(walk_.rank) = rank;
    keys_.reserve(width_ * Pairs());
    for (uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      eval_.Var(walk_.chunk) = chunk;
      for (uint32_t mb = 0; mb < micro_batches_; ++mb) {
        eval_.Var(walk_.micro_batch) = mb;
        for (sema::ExprId key : walk_.key) keys_.push_back(eval_.Eval(key));
        if (eval_.failed()) return false;
      }
    }
    return true;
  }

  std::vector<size_t> Sorted() const {
    std::vector<size_t> pairs(Pairs());
    std::iota(pairs.begin(), pairs.end(), size_t{0});
    std::sort(pairs.begin(), pairs.end(), [&](size_t a, size_t b) {
      int order = Compare(a, b);
      return order != 0 ? order < 0 : a < b;
    });
    return pairs;
  }

  int Compare(size_t a, size_t b) const {
    const int64_t* left = keys_.data() + a * width_;
    const int64_t* right = keys_.data() + b * width_;
    for (size_t i = 0; i < width_; ++i) {
      if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    }
    return 0;
  }

  std::string Key(size_t pair) const {
    const int64_t* key = keys_.data() + pair * width_;
    return fmt::format("({})", fmt::join(key, key + width_, ", "));
  }

  WalkStep Step(size_t pair) const {
    return {static_cast<uint16_t>(pair / micro_batches_),
            static_cast<uint32_t>(pair % micro_batches_)};
  }

 private:
  size_t Pairs() const { return size_t{chunks_} * micro_batches_; }

  const sema::Walk& walk_;
  Evaluator& eval_;
  size_t width_;
  uint32_t chunks_, micro_batches_;
  std::vector<int64_t> keys_;
};

std::string Name(WalkStep step) {
  return fmt::format("(chunk {}, micro-batch {})", step.chunk, step.mb);
}

}  // namespace

bool SortWalk(const sema::Walk& walk, Instance& instance, uint32_t rank,
              uint32_t chunks, const std::string& name, WalkOrder& order,
              FaultLog& log) {
  Sorter sorter(walk, instance, chunks);
  if (!sorter.EvalKeys(rank)) {
    EvalFault fault = instance.eval().TakeFault();
    Fault told{fault.code, fault.span, fault.message, {}, ""};
    told.notes.push_back({{}, fmt::format("in `{}` on rank {}", name, rank)});
    log.Add(std::move(told), rank);
    return false;
  }
  std::vector<size_t> pairs = sorter.Sorted();
  order = {};
  order.mbs.resize(chunks);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0 && sorter.Compare(pairs[i - 1], pairs[i]) == 0) {
      log.Add(
          {diag::Code::kWalkTie,
           walk.span,
           fmt::format("`{}` gives {} and {} the same key {} on rank {}", name,
                       Name(sorter.Step(pairs[i - 1])),
                       Name(sorter.Step(pairs[i])), sorter.Key(pairs[i]), rank),
           {},
           "add to the key what tells them apart"},
          rank);
      return false;
    }
    WalkStep step = sorter.Step(pairs[i]);
    order.index.push_back(static_cast<uint32_t>(order.mbs[step.chunk].size()));
    order.mbs[step.chunk].push_back(step.mb);
    order.places.push_back(step);
  }
  return true;
}

}  // namespace pp::expand
