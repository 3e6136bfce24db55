#include "compiler/driver/lift.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/compute_ref.h"

namespace pp::driver {
namespace {

Status LiftPlacement(const bytecode::Module& module, ir::Placement& placement) {
  constexpr uint32_t kNowhere = 0xFFFFFFFF;
  placement.text = module.facts.placement;
  placement.stages = module.stages;
  placement.home.assign(module.stages, {Rank(kNowhere), 0});
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    auto& stages = placement.stage.emplace_back();
    for (const bytecode::ChunkInfo& chunk : module.programs[r].chunks) {
      ir::Home& home = placement.home[chunk.stage.value];
      if (chunk.replica != 0 || home.rank.value != kNowhere) {
        return InputError(fmt::format(
            "stage {} is held more than once: cannot be shown as one pipeline",
            chunk.stage.value));
      }
      home = {Rank(r), static_cast<uint32_t>(stages.size())};
      stages.push_back(chunk.stage.value);
    }
  }
  for (uint32_t s = 0; s < module.stages; ++s) {
    if (placement.home[s].rank.value == kNowhere) {
      return InputError(fmt::format("no rank holds stage {}", s));
    }
  }
  return OkStatus();
}

std::string OriginOf(const bytecode::Site& site) {
  if (site.line == 0) return "";
  return fmt::format("{}:{}:{}", site.file, site.line, site.column);
}

std::vector<ir::Op> LiftProgram(const bytecode::RankProgram& program) {
  std::vector<ir::Op> ops;
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    const auto compute = analysis::ComputeOf(program.code[pc]);
    if (!compute) continue;
    ir::Op op{compute->kind, static_cast<uint16_t>(compute->chunk),
              compute->mb};
    if (!program.debug.empty()) {
      op.site = program.debug[pc].site;
      op.iteration = program.debug[pc].iteration;
    }
    ops.push_back(op);
  }
  return ops;
}

}  // namespace

Result<ir::Schedule> LiftCompute(const bytecode::Module& module) {
  ir::Schedule schedule;
  schedule.name = module.facts.schedule;
  schedule.params = module.facts.params;
  schedule.ranks = module.ranks();
  schedule.micro_batches = module.micro_batches;
  PP_RETURN_IF_ERROR(LiftPlacement(module, schedule.placement));
  for (const bytecode::RankProgram& program : module.programs) {
    schedule.programs.push_back(LiftProgram(program));
  }
  for (const bytecode::Site& site : module.sites) {
    schedule.sites.push_back({{}, site.phase, OriginOf(site)});
  }
  // Operations without a site share one that says nothing.
  uint32_t unknown = static_cast<uint32_t>(schedule.sites.size());
  schedule.sites.push_back({});
  for (auto& program : schedule.programs) {
    for (ir::Op& op : program) op.site = std::min(op.site, unknown);
  }
  return schedule;
}

}  // namespace pp::driver
