#include "compiler/lower/lower.h"

#include <utility>

#include "compiler/lower/group_exchanges.h"
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

Result<bytecode::Module> Lower(const ir::Schedule& schedule,
                               const ir::CostModel& costs,
                               const source::SourceManager& sources,
                               const Options& options) {
  PP_ASSIGN_OR_RETURN(const WorkIndex index, WorkIndex::Build(schedule));
  const Transfers transfers(schedule);
  PP_ASSIGN_OR_RETURN(std::vector<Event> events,
                      OrderEvents(schedule, costs, transfers, index, options));
  GroupExchanges(schedule.ranks, transfers, events);
  bytecode::Module module = Skeleton(schedule, sources);
  PP_RETURN_IF_ERROR(Project(schedule, transfers, index, events, module));
  AppendUpdateTail(module);
  return module;
}

}  // namespace pp::lower
