#include "compiler/lower/work_index.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace pp::lower {
namespace {

using ir::OpKind;

// How far one (stage, micro-batch) has come in its rank's program.
enum Progress : uint8_t { kNothing, kForwarded, kHalf, kDone, kInvalid };

constexpr std::array<std::string_view, 4> kProgressText = {
    "nothing done yet", "its F done", "its F and I done", "all its work done"};

Progress After(Progress progress, OpKind kind) {
  switch (kind) {
    case OpKind::kF:
      return progress == kNothing ? kForwarded : kInvalid;
    case OpKind::kB:
      return progress == kForwarded ? kDone : kInvalid;
    case OpKind::kI:
      return progress == kForwarded ? kHalf : kInvalid;
    case OpKind::kW:
      return progress == kHalf ? kDone : kInvalid;
  }
  return kInvalid;
}

// Bounds that the instruction encoding and 32-bit tensor numbers set.
Status CheckSizes(const ir::Schedule& schedule) {
  constexpr uint64_t kHalfWord = 0x10000;
  constexpr uint64_t kWord = std::numeric_limits<uint32_t>::max();
  if (schedule.ranks == 0 || schedule.micro_batches == 0 ||
      schedule.placement.stages == 0) {
    return InputError(fmt::format(
        "schedule {}: {} ranks, {} stages, {} micro-batches: each must be at "
        "least 1",
        schedule.name, schedule.ranks, schedule.placement.stages,
        schedule.micro_batches));
  }
  if (schedule.ranks >= kHalfWord || schedule.placement.stages >= kHalfWord) {
    return InputError(fmt::format(
        "schedule {}: {} ranks and {} stages; bytecode holds at most {} of "
        "each",
        schedule.name, schedule.ranks, schedule.placement.stages,
        kHalfWord - 1));
  }
  const uint64_t cells =
      uint64_t{schedule.placement.stages} * schedule.micro_batches;
  if (cells > kWord / 2) {
    return InputError(fmt::format(
        "schedule {}: {} stages x {} micro-batches is more than the {} that "
        "can be lowered",
        schedule.name, schedule.placement.stages, schedule.micro_batches,
        kWord / 2));
  }
  return OkStatus();
}

Status CheckPlacement(const ir::Schedule& schedule) {
  const ir::Placement& placement = schedule.placement;
  bool good = placement.home.size() == placement.stages &&
              placement.stage.size() == schedule.ranks &&
              schedule.programs.size() == schedule.ranks;
  for (uint32_t s = 0; good && s < placement.stages; ++s) {
    const ir::Home& home = placement.home[s];
    good = home.rank.value < schedule.ranks &&
           home.chunk < placement.stage[home.rank.value].size() &&
           placement.stage[home.rank.value][home.chunk] == s;
  }
  size_t chunks = 0;
  for (const auto& rank : placement.stage) chunks += rank.size();
  if (!good || chunks != placement.stages) {
    return InputError(fmt::format(
        "schedule {}: placement `{}` does not give each of {} stages one rank "
        "and chunk",
        schedule.name, placement.text, placement.stages));
  }
  return OkStatus();
}

Status CheckAllDone(const ir::Schedule& schedule,
                    const std::vector<uint8_t>& progress) {
  for (size_t cell = 0; cell < progress.size(); ++cell) {
    if (progress[cell] == kDone) continue;
    return InputError(fmt::format(
        "schedule {}: stage {}, micro-batch {}: at the end of the program {}",
        schedule.name, cell / schedule.micro_batches,
        cell % schedule.micro_batches, kProgressText[progress[cell]]));
  }
  return OkStatus();
}

}  // namespace

WorkIndex::WorkIndex(const ir::Schedule& schedule)
    : micro_batches_(schedule.micro_batches),
      forward_(size_t{schedule.placement.stages} * schedule.micro_batches),
      backward_(forward_.size()) {}

Status WorkIndex::AddRank(const ir::Schedule& schedule, Rank rank,
                          std::vector<uint8_t>& progress) {
  const std::vector<ir::Op>& program = schedule.programs[rank.value];
  const size_t chunks = schedule.placement.stage[rank.value].size();
  for (uint32_t i = 0; i < program.size(); ++i) {
    const ir::Op& op = program[i];
    if (op.chunk >= chunks || op.mb >= micro_batches_) {
      return InputError(fmt::format(
          "rank {}, operation {}: chunk {} of {}, micro-batch {} of {}",
          rank.value, i, op.chunk, chunks, op.mb, micro_batches_));
    }
    const StageId stage{schedule.StageOf(rank, op.chunk)};
    const size_t cell = Cell(stage, MicroBatch{op.mb});
    const auto before = static_cast<Progress>(progress[cell]);
    const Progress after = After(before, op.kind);
    if (after == kInvalid) {
      return InputError(
          fmt::format("rank {}, operation {}: {} with {}", rank.value, i,
                      ir::Describe(schedule, rank, op), kProgressText[before]));
    }
    progress[cell] = after;
    if (op.kind == OpKind::kF) forward_[cell] = i;
    if (op.kind == OpKind::kB || op.kind == OpKind::kI) backward_[cell] = i;
  }
  return OkStatus();
}

Result<WorkIndex> WorkIndex::Build(const ir::Schedule& schedule) {
  PP_RETURN_IF_ERROR(CheckSizes(schedule));
  PP_RETURN_IF_ERROR(CheckPlacement(schedule));
  WorkIndex index(schedule);
  std::vector<uint8_t> progress(index.forward_.size(), kNothing);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    PP_RETURN_IF_ERROR(index.AddRank(schedule, Rank{r}, progress));
  }
  PP_RETURN_IF_ERROR(CheckAllDone(schedule, progress));
  return index;
}

}  // namespace pp::lower
