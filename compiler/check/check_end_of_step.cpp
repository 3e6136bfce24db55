// Rules, for each chunk: SCALE once, after its last gradient; then REDUCE once
// for each group that the chunk is in (with replicas: at least the group of
// its stage); then UPDATE once; no compute after that.
// Codes: GradientScale (4008), GradientReduction (4009), WeightUpdate (4010).
// The first fault of a kind for each chunk. Cost: O(n log n).
//
//   scale c0; backward c0 m3 ...; update c0    // m3 is not scaled
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"

namespace pp::check {
namespace {

using bytecode::GroupKind;
using bytecode::Instr;
using bytecode::Module;
using bytecode::Opcode;
using diag::Code;
namespace op = bytecode::op;

class RankWalk {
 public:
  RankWalk(const Module& module, Rank rank, const std::vector<uint32_t>& groups,
           diag::Emitter& diag)
      : module_(module),
        program_(module.programs[rank.value]),
        rank_(rank),
        groups_(groups),
        diag_(diag),
        chunks_(program_.chunks.size()) {
    for (uint32_t c = 0; c < chunks_.size(); ++c) {
      by_stage_.push_back({program_.chunks[c].stage.value, c});
    }
    std::ranges::sort(by_stage_);
  }

  bool Run() {
    for (pc_ = 0; pc_ < program_.code.size(); ++pc_) Look(program_.code[pc_]);
    for (uint32_t c = 0; c < chunks_.size(); ++c) LookAtEnd(c);
    return ok_;
  }

 private:
  struct Chunk {
    std::optional<Pc> scale, update;
  };

  void Look(const Instr& instr) {
    switch (instr.op) {
      case Opcode::kForward:
        return Compute(op::Forward::Of(instr).chunk, false);
      case Opcode::kBackward:
        return Compute(op::Backward::Of(instr).chunk, true);
      case Opcode::kBackwardInput:
        return Compute(op::BackwardInput::Of(instr).chunk, false);
      case Opcode::kBackwardWeight:
        return Compute(op::BackwardWeight::Of(instr).chunk, true);
      case Opcode::kScale:
        return Scale(op::Scale::Of(instr).chunk.value);
      case Opcode::kReduce:
        return Reduce(op::Reduce::Of(instr).group.value);
      case Opcode::kUpdate:
        return Update(op::Update::Of(instr).chunk.value);
      case Opcode::kSend:
      case Opcode::kRecv:
      case Opcode::kWait:
      case Opcode::kFree:
      case Opcode::kGroupBegin:
      case Opcode::kGroupEnd:
        return;
    }
  }

  void Compute(ChunkId chunk, bool adds_gradient) {
    const Chunk& c = chunks_[chunk.value];
    if (c.update) {
      Fault(Code::kWeightUpdate, chunk.value,
            "uses weights that were updated already", c.update);
    }
    if (adds_gradient && c.scale) {
      Fault(Code::kGradientScale, chunk.value,
            "adds to gradients that were scaled already", c.scale);
    }
  }

  void Scale(uint32_t c) {
    Chunk& chunk = chunks_[c];
    if (chunk.scale) {
      Fault(Code::kGradientScale, c, "scales the gradients a second time",
            chunk.scale);
    }
    if (chunk.update) {
      Fault(Code::kGradientScale, c, "scales gradients after their update",
            chunk.update);
    }
    if (!chunk.scale) chunk.scale = Pc(pc_);
  }

  void Reduce(uint32_t g) {
    const bytecode::Group& group = module_.groups[g];
    if (group.kind == GroupKind::kReplicas) {
      return ReduceStage(g, group.stage.value);
    }
    ReduceStage(g, 0);
    if (module_.stages > 1) ReduceStage(g, module_.stages - 1);
  }

  void ReduceStage(uint32_t g, uint32_t stage) {
    const std::pair<uint32_t, uint32_t> from(stage, 0);
    for (auto at = std::ranges::lower_bound(by_stage_, from);
         at != by_stage_.end() && at->first == stage; ++at) {
      ReduceChunk(g, at->second);
    }
  }

  void ReduceChunk(uint32_t g, uint32_t c) {
    const Chunk& chunk = chunks_[c];
    const bool fresh = reduced_.insert({c, g}).second;
    if (!fresh) {
      Fault(Code::kGradientReduction, c, "sums the gradients a second time");
    }
    if (!chunk.scale) {
      Fault(Code::kGradientReduction, c, "sums gradients before their scaling");
    }
    if (chunk.update) {
      Fault(Code::kGradientReduction, c, "sums gradients after their update",
            chunk.update);
    }
    if (module_.groups[g].kind == GroupKind::kReplicas) summed_.insert(c);
  }

  void Update(uint32_t c) {
    Chunk& chunk = chunks_[c];
    if (chunk.update) {
      Fault(Code::kWeightUpdate, c, "updates the weights a second time",
            chunk.update);
    }
    if (!chunk.scale) {
      Fault(Code::kWeightUpdate, c, "updates by gradients that are not scaled");
    }
    if (!chunk.update) chunk.update = Pc(pc_);
  }

  void LookAtEnd(uint32_t c) {
    if (!chunks_[c].scale) Never(Code::kGradientScale, c, "are never scaled");
    if (!chunks_[c].update) {
      Never(Code::kWeightUpdate, c, "are never used: there is no `update`");
    }
    const uint32_t stage = program_.chunks[c].stage.value;
    for (const uint32_t g : groups_) {
      const bytecode::Group& group = module_.groups[g];
      const bool in = group.kind == GroupKind::kReplicas
                          ? stage == group.stage.value
                          : stage == 0 || stage + 1 == module_.stages;
      if (in && !reduced_.contains({c, g})) {
        Never(Code::kGradientReduction, c,
              fmt::format("are never summed over group g{}", g));
      }
    }
    if (module_.replicas > 1 && !summed_.contains(c)) {
      Never(Code::kGradientReduction, c,
            "are never summed over the replicas of the stage");
    }
  }

  void Fault(Code code, uint32_t c, const std::string& what,
             std::optional<Pc> earlier = std::nullopt) {
    ok_ = false;
    if (!told_.insert({code, c}).second) return;
    const InstrRef here{rank_, Pc(pc_)};
    auto error =
        diag_.Emit(code, Where(module_, here),
                   fmt::format("{} {} (stage {})", NameAt(module_, here), what,
                               program_.chunks[c].stage.value));
    if (earlier) {
      const InstrRef before{rank_, *earlier};
      error.Note(Where(module_, before),
                 NameAt(module_, before) + " stands before it");
    }
    error.Help(kHelp);
  }

  void Never(Code code, uint32_t c, const std::string& what) {
    ok_ = false;
    if (!told_.insert({code, c}).second) return;
    diag_
        .Emit(code, {},
              fmt::format("rank {}: the gradients of chunk c{} (stage {}) {}",
                          rank_.value, c, program_.chunks[c].stage.value, what))
        .Help(kHelp);
  }

  static constexpr const char* kHelp =
      "a step ends, for each chunk, with `scale` after its last gradient, "
      "`reduce` of each of its groups, then `update`: each once";

  const Module& module_;
  const bytecode::RankProgram& program_;
  Rank rank_;
  const std::vector<uint32_t>& groups_;  // that have this rank
  diag::Emitter& diag_;
  std::vector<Chunk> chunks_;
  std::vector<std::pair<uint32_t, uint32_t>> by_stage_;  // (stage, chunk)
  std::set<std::pair<uint32_t, uint32_t>> reduced_;      // (chunk, group)
  std::set<uint32_t> summed_;                            // over replicas
  std::set<std::pair<Code, uint32_t>> told_;
  uint32_t pc_ = 0;
  bool ok_ = true;
};

}  // namespace

bool ModuleEndOfStep(const ModuleContext& context, diag::Emitter& diag) {
  const Module& module = context.module;
  std::vector<std::vector<uint32_t>> groups(module.ranks());
  for (uint32_t g = 0; g < module.groups.size(); ++g) {
    for (const Rank rank : module.groups[g].ranks) {
      groups[rank.value].push_back(g);
    }
  }
  bool ok = true;
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    ok &= RankWalk(module, Rank(r), groups[r], diag).Run();
  }
  return ok;
}

}  // namespace pp::check
