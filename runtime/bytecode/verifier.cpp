// Verify: tables of the module, then per rank one bounds pass and one state
// pass (verify_rank.cpp).
#include "runtime/bytecode/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/quote.h"
#include "runtime/bytecode/verify_rank.h"

namespace pp::bytecode {
namespace {

constexpr uint32_t kMaxMicroBatches = (1u << 31) - 1;

// As many as an operand of this kind can tell apart.
uint64_t CountLimit(OperandKind kind) {
  return uint64_t{1} << (8 * OperandBytes(kind));
}

Status CheckCount(std::string_view name, uint64_t count, uint64_t least,
                  uint64_t most) {
  if (count >= least && count <= most) return OkStatus();
  return InputError(fmt::format("module: {} is {}, expected {}..{}", name,
                                count, least, most));
}

Status CheckCounts(const Module& module) {
  using K = OperandKind;
  PP_RETURN_IF_ERROR(
      CheckCount("ranks", module.ranks(), 1, CountLimit(K::kPeer)));
  PP_RETURN_IF_ERROR(
      CheckCount("micro_batches", module.micro_batches, 1, kMaxMicroBatches));
  PP_RETURN_IF_ERROR(
      CheckCount("stages", module.stages, 1, CountLimit(K::kStage)));
  PP_RETURN_IF_ERROR(
      CheckCount("replicas", module.replicas, 1, CountLimit(K::kPeer)));
  PP_RETURN_IF_ERROR(
      CheckCount("lanes", module.lanes, 0, CountLimit(K::kLane)));
  return CheckCount("groups", module.groups.size(), 0, CountLimit(K::kGroup));
}

bool Holds(const RankProgram& program, StageId stage) {
  return std::ranges::find(program.chunks, stage, &ChunkInfo::stage) !=
         program.chunks.end();
}

bool HoldsGroupStage(const Module& module, const Group& group, Rank rank) {
  const RankProgram& program = module.programs[rank.value];
  if (group.kind == GroupKind::kReplicas) return Holds(program, group.stage);
  return Holds(program, StageId{0}) ||
         Holds(program, StageId{module.stages - 1});
}

Status CheckGroupRanks(const Module& module, const Group& group) {
  if (group.ranks.empty()) return InputError("has no ranks");
  for (const Rank rank : group.ranks) {
    if (rank.value >= module.ranks()) {
      return InputError(fmt::format("rank {} is out of range 0..{}", rank.value,
                                    module.ranks() - 1));
    }
    if (!HoldsGroupStage(module, group, rank)) {
      return InputError(
          fmt::format("rank {} holds no chunk of {}", rank.value,
                      group.kind == GroupKind::kTied
                          ? "the first or the last stage"
                          : fmt::format("stage {}", group.stage.value)));
    }
  }
  std::vector<Rank> sorted = group.ranks;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return OkStatus();
  return InputError(fmt::format("rank {} is listed twice", twice->value));
}

Status CheckGroup(const Module& module, const Group& group) {
  if (static_cast<uint32_t>(group.kind) >= kGroupKindCount) {
    return InputError(
        fmt::format("unknown kind {}", static_cast<uint32_t>(group.kind)));
  }
  const uint32_t stages =
      group.kind == GroupKind::kReplicas ? module.stages : 1;
  if (group.stage.value >= stages) {
    return InputError(fmt::format("stage {} is out of range 0..{}",
                                  group.stage.value, stages - 1));
  }
  return CheckGroupRanks(module, group);
}

Status CheckText(std::string_view name, std::string_view text) {
  if (IsUtf8(text)) return OkStatus();
  return InputError(fmt::format("{} is not UTF-8 text: {}", name, Quote(text)));
}

Status CheckFinite(std::string_view name, double value) {
  if (std::isfinite(value)) return OkStatus();
  return InputError(fmt::format("{} is {}, not a finite number", name, value));
}

Status CheckFacts(const Module& module) {
  const Facts& facts = module.facts;
#define PP_FACT_TEXT(field) PP_RETURN_IF_ERROR(CheckText(#field, facts.field));
#define PP_FACT_NUMBER(field) \
  PP_RETURN_IF_ERROR(CheckFinite(#field, facts.field));
#include "runtime/bytecode/facts_fields.def"
  for (const auto& [name, value] : facts.params) {
    PP_RETURN_IF_ERROR(CheckText("a parameter's name", name));
  }
  const size_t peaks = facts.peak_activations.size();
  if (peaks != 0 && peaks != module.ranks()) {
    return InputError(
        fmt::format("peak_activations has {} entries for {} "
                    "ranks",
                    peaks, module.ranks()));
  }
  return OkStatus();
}

Status CheckSites(const std::vector<Site>& sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    const std::string context = fmt::format("site {}", i);
    PP_RETURN_IF_ERROR(CheckText("file", sites[i].file).WithContext(context));
    PP_RETURN_IF_ERROR(CheckText("phase", sites[i].phase).WithContext(context));
  }
  return OkStatus();
}

Status CheckTables(const Module& module) {
  PP_RETURN_IF_ERROR(CheckCounts(module));
  for (size_t i = 0; i < module.groups.size(); ++i) {
    PP_RETURN_IF_ERROR(CheckGroup(module, module.groups[i])
                           .WithContext(fmt::format("group g{}", i)));
  }
  PP_RETURN_IF_ERROR(CheckSites(module.sites));
  return CheckFacts(module).WithContext("facts");
}

}  // namespace

Status Verify(const Module& module) {
  PP_RETURN_IF_ERROR(CheckTables(module));
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    PP_RETURN_IF_ERROR(internal::VerifyRank(module, Rank{rank}));
  }
  return OkStatus();
}

}  // namespace pp::bytecode
