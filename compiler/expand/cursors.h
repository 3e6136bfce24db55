// Which micro-batch an operation without `@m` takes: the cursors of one rank.
//
//   F            one cursor; B and I share another
//   F[c]         the next micro-batch of chunk c in its order
//   F            the next (chunk, micro-batch) of the walk that is not taken
//   W, W[c]      the oldest I that still owes its W, of all or of chunk c
//
// The order of a chunk is that of the walk, or ascending without one. For one
// (operation, chunk) `@m` and a cursor do not mix.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/expand/walk.h"
#include "compiler/sema/program.h"
#include "llvm/ADT/DenseMap.h"

namespace pp::expand {

enum class Taken : uint8_t {
  kOk,
  kPastEnd,
  kNothingOwed,
  kMixed,
  kChunkNeeded,
};

// F, B and I together, W: what may not mix `@m` and a cursor.
enum class OpGroup : uint8_t { kForward, kBackward, kWeight };
inline constexpr size_t kOpGroups = 3;

class Cursors {
 public:
  // For the next rank. A null walk: ascending micro-batches.
  void Reset(uint32_t chunks, uint32_t micro_batches,
             std::array<const WalkOrder*, sema::kCursors> walks,
             bool explicit_w);

  // Each fills in `step`; `site` is kept to show where a way of addressing
  // began.
  Taken Next(OpGroup group, source::Span site, WalkStep& step);
  Taken NextOf(OpGroup group, uint16_t chunk, source::Span site,
               WalkStep& step);
  Taken Explicit(OpGroup group, WalkStep step, source::Span site);

  void Owe(WalkStep step);  // an I was run

  // After kMixed: where the other way of addressing this chunk began.
  source::Span OtherSite() const { return other_site_; }

 private:
  enum class Mode : uint8_t { kNone, kCursor, kExplicit };

  Taken SetMode(OpGroup group, uint16_t chunk, Mode mode, source::Span site) {
    Mode& now = modes_[static_cast<size_t>(group)][chunk];
    if (now == mode) return Taken::kOk;
    return NewMode(group, chunk, mode, site);
  }
  Taken NewMode(OpGroup group, uint16_t chunk, Mode mode, source::Span site);
  Taken NextOwed(source::Span site, WalkStep& step);
  Taken NextOwedOf(uint16_t chunk, source::Span site, WalkStep& step);
  Taken Pay(uint32_t debt, source::Span site, WalkStep& step);

  uint32_t chunks_ = 0, micro_batches_ = 0;
  std::array<const WalkOrder*, sema::kCursors> walks_{};
  std::array<std::vector<uint32_t>, sema::kCursors> taken_;  // by chunk
  std::array<size_t, sema::kCursors> at_{};                  // in the walk
  std::array<std::vector<Mode>, kOpGroups> modes_;
  std::array<std::vector<source::Span>, kOpGroups> mode_sites_;
  source::Span other_site_;

  // Debts in the order of their I; a paid one is skipped by both heads.
  struct Debt {
    WalkStep step;
    bool paid = false;
  };
  std::vector<Debt> debts_;
  std::vector<std::vector<uint32_t>> debts_of_;  // by chunk
  size_t oldest_ = 0;
  std::vector<size_t> oldest_of_;
  bool index_debts_ = false;  // only where some `W@m` is written
  llvm::DenseMap<uint64_t, uint32_t> debt_of_;
};

}  // namespace pp::expand
