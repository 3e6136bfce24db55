#include "compiler/expand/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/expand/fault_log.h"

namespace pp::expand {
namespace {

using diag::Code;
using sema::kNone;

class Placer {
 public:
  Placer(Instance& instance, uint64_t max_ops, diag::Emitter& diag)
      : instance_(instance),
        max_ops_(max_ops),
        diag_(diag),
        ranks_(instance.ranks()) {}

  std::optional<ir::Placement> Run() {
    return std::visit([&](const auto& kind) { return Place(kind); },
                      instance_.program().placement.kind);
  }

 private:
  using Placed = std::optional<ir::Placement>;

  source::Span Where() const { return instance_.program().placement.span; }

  diag::Builder Error(Code code, source::Span span, std::string message) {
    return diag_.Emit(code, span, std::move(message));
  }

  std::string With() const { return "with " + instance_.PointText(); }

  // Each stage runs at least an F and a B for each micro-batch.
  bool Fits(uint64_t stages) {
    uint64_t room = max_ops_ / 2 / instance_.micro_batches();
    if (stages <= room) return true;
    Error(
        Code::kTooManyOps, Where(),
        fmt::format("{} stages and {} micro-batches need at least {} "
                    "operations, more than the limit of {}",
                    stages, instance_.micro_batches(),
                    uint64_t{2} * stages * instance_.micro_batches(), max_ops_))
        .Note({}, With());
    return false;
  }

  ir::Placement Empty(std::string text, uint32_t stages) const {
    ir::Placement placement;
    placement.text = std::move(text);
    placement.stages = stages;
    placement.home.resize(stages);
    placement.stage.resize(ranks_);
    return placement;
  }

  static void Put(ir::Placement& placement, uint32_t stage, uint32_t rank) {
    auto& own = placement.stage[rank];
    placement.home[stage] = {Rank(rank), static_cast<uint32_t>(own.size())};
    own.push_back(stage);
  }

  Placed Looped(std::string text, uint32_t chunks) {
    if (!Fits(uint64_t{chunks} * ranks_)) return std::nullopt;
    ir::Placement placement = Empty(std::move(text), chunks * ranks_);
    for (uint32_t s = 0; s < placement.stages; ++s) {
      Put(placement, s, s % ranks_);
    }
    return placement;
  }

  // The stages go down the ranks and up again by turns: at each turn two
  // neighbours share a rank, and need no message.
  Placed Waved(std::string text, uint32_t chunks) {
    if (!Fits(uint64_t{chunks} * ranks_)) return std::nullopt;
    ir::Placement placement = Empty(std::move(text), chunks * ranks_);
    for (uint32_t s = 0; s < placement.stages; ++s) {
      const uint32_t along = s % ranks_;
      Put(placement, s, s / ranks_ % 2 == 0 ? along : ranks_ - 1 - along);
    }
    return placement;
  }

  // The number between the brackets of `loop(v)` or `wave(k)`.
  std::optional<uint32_t> Chunks(const char* word, sema::ExprId expr) {
    int64_t chunks = instance_.eval().Eval(expr);
    if (instance_.eval().failed()) {
      instance_.EmitFault("in this placement", diag_);
      return std::nullopt;
    }
    if (chunks < 1 || chunks > kMaxChunks) {
      Error(Code::kBadPlacement, Where(),
            fmt::format("`{}({})`: a rank holds 1..{} chunks", word, chunks,
                        kMaxChunks))
          .Note({}, With());
      return std::nullopt;
    }
    return static_cast<uint32_t>(chunks);
  }

  Placed Place(const sema::Linear&) { return Looped("linear", 1); }

  Placed Place(const sema::Loop& loop) {
    const std::optional<uint32_t> chunks = Chunks("loop", loop.chunks);
    if (!chunks) return std::nullopt;
    return Looped(fmt::format("loop({})", *chunks), *chunks);
  }

  Placed Place(const sema::Vee&) { return Waved("vee", 2); }

  Placed Place(const sema::Wave& wave) {
    const std::optional<uint32_t> chunks = Chunks("wave", wave.chunks);
    if (!chunks) return std::nullopt;
    return Waved(fmt::format("wave({})", *chunks), *chunks);
  }

  // ---- custom ----

  struct Assigned {
    int64_t stage = 0, rank = 0, chunk = 0;
    source::Span span;
  };

  Placed Place(const sema::Custom& custom) {
    for (const sema::Rule& rule : custom.rules) {
      if (!Apply(rule)) return std::nullopt;
    }
    std::stable_sort(
        assigned_.begin(), assigned_.end(),
        [](const Assigned& a, const Assigned& b) { return a.stage < b.stage; });
    if (!StagesOnce()) return std::nullopt;
    ir::Placement placement =
        Empty("custom", static_cast<uint32_t>(assigned_.size()));
    if (!FillHomes(placement) || !NoRankIdle(placement)) return std::nullopt;
    return placement;
  }

  bool Apply(const sema::Rule& rule) {
    Evaluator& eval = instance_.eval();
    int64_t begin = eval.Eval(rule.begin);
    bool one = rule.end == kNone;
    int64_t end = one ? begin : eval.Eval(rule.end);
    for (int64_t stage = begin; one ? stage == begin : stage < end; ++stage) {
      if (eval.failed()) break;
      if (rule.slot != kNone) eval.Var(rule.slot) = stage;
      Assigned home{stage, eval.Eval(rule.rank),
                    rule.chunk == kNone ? 0 : eval.Eval(rule.chunk), rule.span};
      if (eval.failed()) break;
      if (!InRange(home)) return false;
      assigned_.push_back(home);
      if (!Fits(assigned_.size())) return false;
    }
    if (!eval.failed()) return true;
    instance_.EmitFault("in this placement", diag_);
    return false;
  }

  bool InRange(const Assigned& home) {
    std::string what;
    Code code = Code::kBadPlacement;
    if (home.stage < 0 || home.stage >= kMaxRanks * kMaxChunks) {
      what = fmt::format("stage {} out of range 0..{}", home.stage,
                         kMaxRanks * kMaxChunks - 1);
    } else if (home.rank < 0 || home.rank >= ranks_) {
      code = Code::kRankRange;
      what = fmt::format("stage {} goes to rank {}, out of range 0..{}",
                         home.stage, home.rank, ranks_ - 1);
    } else if (home.chunk < 0 || home.chunk >= kMaxChunks) {
      what = fmt::format("stage {} is chunk {}, out of range 0..{}", home.stage,
                         home.chunk, kMaxChunks - 1);
    }
    if (what.empty()) return true;
    Error(code, home.span, what).Note({}, With());
    return false;
  }

  bool StagesOnce() {
    if (assigned_.empty()) {
      Error(Code::kBadPlacement, Where(), "this placement has no stage")
          .Note({}, With());
      return false;
    }
    int64_t want = 0;
    for (size_t i = 0; i < assigned_.size(); ++i) {
      const Assigned& home = assigned_[i];
      if (i > 0 && assigned_[i - 1].stage == home.stage) {
        const Assigned& other = assigned_[i - 1];
        Error(Code::kBadPlacement, home.span,
              fmt::format("stage {} has two homes: rank {} and rank {}",
                          home.stage, other.rank, home.rank))
            .Note(other.span, "the other one is given here")
            .Note({}, With());
        return false;
      }
      if (home.stage != want) {
        Error(Code::kBadPlacement, Where(),
              fmt::format("stage {} has no home, but stage {} has", want,
                          home.stage))
            .Note({}, With());
        return false;
      }
      ++want;
    }
    return true;
  }

  bool FillHomes(ir::Placement& placement) {
    std::map<std::pair<int64_t, int64_t>, const Assigned*> taken;
    for (const Assigned& home : assigned_) {
      auto [at, fresh] = taken.try_emplace({home.rank, home.chunk}, &home);
      if (!fresh) {
        Error(Code::kBadPlacement, home.span,
              fmt::format("stages {} and {} are both chunk {} of rank {}",
                          at->second->stage, home.stage, home.chunk, home.rank))
            .Note(at->second->span, "the other one is given here")
            .Note({}, With());
        return false;
      }
      placement.home[static_cast<size_t>(home.stage)] = {
          Rank(static_cast<uint32_t>(home.rank)),
          static_cast<uint32_t>(home.chunk)};
    }
    // In order of (rank, chunk): dense if each next chunk is the next number.
    for (const auto& [key, home] : taken) {
      auto& own = placement.stage[static_cast<size_t>(key.first)];
      if (key.second != static_cast<int64_t>(own.size())) {
        Error(Code::kBadPlacement, home->span,
              fmt::format("rank {} holds chunk {}, but no chunk {}", key.first,
                          key.second, own.size()))
            .Note({}, With());
        return false;
      }
      own.push_back(static_cast<uint32_t>(home->stage));
    }
    return true;
  }

  bool NoRankIdle(const ir::Placement& placement) {
    std::vector<uint32_t> idle;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (placement.stage[rank].empty()) idle.push_back(rank);
    }
    if (idle.empty()) return true;
    Error(Code::kBadPlacement, Where(),
          fmt::format("no stage for rank{} {}", idle.size() == 1 ? "" : "s",
                      PrintSet(idle)))
        .Note({}, With());
    return false;
  }

  Instance& instance_;
  uint64_t max_ops_;
  diag::Emitter& diag_;
  uint32_t ranks_;
  std::vector<Assigned> assigned_;
};

}  // namespace

std::optional<ir::Placement> Place(Instance& instance, uint64_t max_ops,
                                   diag::Emitter& diag) {
  return Placer(instance, max_ops, diag).Run();
}

}  // namespace pp::expand
