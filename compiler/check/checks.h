// The functions behind checks.def. Each is one family of rules; its file says
// the rule, the codes it reports and its cost.
#pragma once

#include <cstdint>

#include "compiler/analysis/comm_match.h"
#include "compiler/analysis/module_graph.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/schedule.h"
#include "runtime/bytecode/module.h"

namespace pp::check {

// A module and the facts that several checks need.
struct ModuleContext {
  const bytecode::Module& module;
  analysis::CommMatch match;
  analysis::Assumptions assumptions{};  // of the transport
};

enum class ScheduleCheck : uint8_t {
#define PP_SCHEDULE_CHECK(Name, ...) k##Name,
#include "compiler/check/checks.def"
};
enum class ModuleCheck : uint8_t {
#define PP_MODULE_CHECK(Name, ...) k##Name,
#include "compiler/check/checks.def"
};

#define PP_SCHEDULE_CHECK(Name, ...) \
  bool Schedule##Name(const ir::Schedule& schedule, diag::Emitter& diag);
#define PP_MODULE_CHECK(Name, ...) \
  bool Module##Name(const ModuleContext& context, diag::Emitter& diag);
#include "compiler/check/checks.def"

}  // namespace pp::check
