#include "compiler/expand/cursors.h"

namespace pp::expand {
namespace {

uint64_t KeyOf(WalkStep step) { return uint64_t{step.chunk} << 32 | step.mb; }

}  // namespace

void Cursors::Reset(uint32_t chunks, uint32_t micro_batches,
                    std::array<const WalkOrder*, sema::kCursors> walks,
                    bool explicit_w) {
  chunks_ = chunks;
  micro_batches_ = micro_batches;
  walks_ = walks;
  for (auto& taken : taken_) taken.assign(chunks, 0);
  at_ = {};
  for (auto& modes : modes_) modes.assign(chunks, Mode::kNone);
  for (auto& sites : mode_sites_) sites.assign(chunks, {});
  debts_.clear();
  debts_of_.assign(chunks, {});
  oldest_ = 0;
  oldest_of_.assign(chunks, 0);
  index_debts_ = explicit_w;
  debt_of_.clear();
}

Taken Cursors::NewMode(OpGroup group, uint16_t chunk, Mode mode,
                       source::Span site) {
  size_t g = static_cast<size_t>(group);
  if (modes_[g][chunk] != Mode::kNone) {
    other_site_ = mode_sites_[g][chunk];
    return Taken::kMixed;
  }
  modes_[g][chunk] = mode;
  mode_sites_[g][chunk] = site;
  return Taken::kOk;
}

Taken Cursors::Next(OpGroup group, source::Span site, WalkStep& step) {
  if (group == OpGroup::kWeight) return NextOwed(site, step);
  size_t g = static_cast<size_t>(group);
  const WalkOrder* walk = walks_[g];
  if (walk == nullptr) {
    if (chunks_ > 1) return Taken::kChunkNeeded;
    return NextOf(group, 0, site, step);
  }
  // What `F[c]` took already is passed over.
  size_t& at = at_[g];
  while (at < walk->places.size() &&
         walk->index[at] < taken_[g][walk->places[at].chunk]) {
    ++at;
  }
  if (at == walk->places.size()) return Taken::kPastEnd;
  step = walk->places[at++];
  ++taken_[g][step.chunk];
  return SetMode(group, step.chunk, Mode::kCursor, site);
}

Taken Cursors::NextOf(OpGroup group, uint16_t chunk, source::Span site,
                      WalkStep& step) {
  if (group == OpGroup::kWeight) return NextOwedOf(chunk, site, step);
  size_t g = static_cast<size_t>(group);
  uint32_t& taken = taken_[g][chunk];
  if (taken == micro_batches_) return Taken::kPastEnd;
  step.chunk = chunk;
  step.mb = walks_[g] == nullptr ? taken : walks_[g]->mbs[chunk][taken];
  ++taken;
  return SetMode(group, chunk, Mode::kCursor, site);
}

Taken Cursors::Explicit(OpGroup group, WalkStep step, source::Span site) {
  if (group == OpGroup::kWeight) {
    auto debt = debt_of_.find(KeyOf(step));
    if (debt != debt_of_.end()) debts_[debt->second].paid = true;
  }
  return SetMode(group, step.chunk, Mode::kExplicit, site);
}

// ---- W --------------------------------------------------------------------

void Cursors::Owe(WalkStep step) {
  uint32_t debt = static_cast<uint32_t>(debts_.size());
  debts_.push_back({step});
  debts_of_[step.chunk].push_back(debt);
  if (index_debts_) debt_of_[KeyOf(step)] = debt;
}

Taken Cursors::NextOwed(source::Span site, WalkStep& step) {
  while (oldest_ < debts_.size() && debts_[oldest_].paid) ++oldest_;
  if (oldest_ == debts_.size()) return Taken::kNothingOwed;
  return Pay(static_cast<uint32_t>(oldest_), site, step);
}

Taken Cursors::NextOwedOf(uint16_t chunk, source::Span site, WalkStep& step) {
  const auto& own = debts_of_[chunk];
  size_t& oldest = oldest_of_[chunk];
  while (oldest < own.size() && debts_[own[oldest]].paid) ++oldest;
  if (oldest == own.size()) return Taken::kNothingOwed;
  return Pay(own[oldest], site, step);
}

Taken Cursors::Pay(uint32_t debt, source::Span site, WalkStep& step) {
  debts_[debt].paid = true;
  step = debts_[debt].step;
  return SetMode(OpGroup::kWeight, step.chunk, Mode::kCursor, site);
}

}  // namespace pp::expand
