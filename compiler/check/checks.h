// The functions behind checks.def. Each is one family of rules; its file says
// the rule, the codes it reports and its cost.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/schedule.h"

namespace pp::check {

enum class ScheduleCheck : uint8_t {
#define PP_SCHEDULE_CHECK(Name, ...) k##Name,
#include "compiler/check/checks.def"
};

#define PP_SCHEDULE_CHECK(Name, ...) \
  bool Schedule##Name(const ir::Schedule& schedule, diag::Emitter& diag);
#include "compiler/check/checks.def"

}  // namespace pp::check
