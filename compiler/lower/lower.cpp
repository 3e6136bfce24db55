#include "compiler/lower/lower.h"

#include <optional>
#include <utility>

#include "compiler/lower/order_events.h"
#include "compiler/lower/project.h"
#include "compiler/lower/transfers.h"
#include "compiler/lower/update_tail.h"
#include "compiler/lower/work_index.h"

namespace pp::lower {
namespace {

// One communicator per direction of data: acts and gradients.
uint32_t LanesFor(const ir::Schedule& schedule) {
  return schedule.ranks > 1 ? bytecode::kPayloadCount : 0;
}

std::vector<bytecode::Site> ResolveSites(const ir::Schedule& schedule,
                                         const source::SourceManager& sources) {
  std::vector<bytecode::Site> sites;
  sites.reserve(schedule.sites.size());
  for (const ir::Site& site : schedule.sites) {
    bytecode::Site& resolved = sites.emplace_back();
    resolved.phase = site.phase;
    if (!site.span.valid()) continue;
    const auto at = sources.Resolve(site.span.file, site.span.begin);
    resolved.file = sources.Name(site.span.file);
    resolved.line = at.line;
    resolved.column = at.column;
  }
  return sites;
}

bytecode::Module Skeleton(const ir::Schedule& schedule,
                          const source::SourceManager& sources) {
  bytecode::Module module;
  module.micro_batches = schedule.micro_batches;
  module.stages = schedule.placement.stages;
  module.lanes = LanesFor(schedule);
  module.sites = ResolveSites(schedule, sources);
  module.programs.resize(schedule.ranks);
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    for (uint32_t stage : schedule.placement.stage[r]) {
      module.programs[r].chunks.push_back({.stage = StageId{stage}});
    }
  }
  return module;
}

}  // namespace

struct Lowering::Work {
  const ir::Schedule& schedule;
  WorkIndex index;
  Transfers transfers;
  lower::Plan plan;
  std::optional<GroupId> tied;
};

Lowering::Lowering(std::unique_ptr<Work> work, bytecode::Module frame)
    : work_(std::move(work)), frame_(std::move(frame)) {}
Lowering::Lowering(Lowering&&) noexcept = default;
Lowering::~Lowering() = default;

Result<Lowering> Lowering::Plan(const ir::Schedule& schedule,
                                const ir::CostModel& costs,
                                const source::SourceManager& sources,
                                const Options& options) {
  PP_ASSIGN_OR_RETURN(WorkIndex index, WorkIndex::Build(schedule));
  Transfers transfers(schedule);
  PP_ASSIGN_OR_RETURN(lower::Plan plan,
                      OrderEvents(schedule, costs, transfers, index, options));
  bytecode::Module frame = Skeleton(schedule, sources);
  const auto tied = AddTiedGroup(frame);
  return Lowering(
      std::make_unique<Work>(Work{schedule, std::move(index),
                                  std::move(transfers), std::move(plan), tied}),
      std::move(frame));
}

Status Lowering::Finish(Rank rank, bytecode::RankProgram& program) {
  const RankPlan plan = std::move(work_->plan[rank.value]);
  PP_RETURN_IF_ERROR(Project(work_->schedule, work_->transfers, work_->index,
                             rank, plan, program));
  AppendUpdateTail(frame_, work_->tied, rank, program);
  return OkStatus();
}

Result<bytecode::Module> Lower(const ir::Schedule& schedule,
                               const ir::CostModel& costs,
                               const source::SourceManager& sources,
                               const Options& options) {
  PP_ASSIGN_OR_RETURN(Lowering lowering,
                      Lowering::Plan(schedule, costs, sources, options));
  bytecode::Module module = lowering.frame();
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    PP_RETURN_IF_ERROR(lowering.Finish(Rank{r}, module.programs[r]));
  }
  return module;
}

}  // namespace pp::lower
