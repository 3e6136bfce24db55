#include "compiler/check/check.h"

#include "compiler/check/checks.h"

namespace pp::check {
namespace {

// The checks of one subject that have passed, as bits.
template <class... Checks>
constexpr uint32_t Bits(Checks... checks) {
  return (0u | ... | (1u << static_cast<unsigned>(checks)));
}

}  // namespace

bool CheckSchedule(const ir::Schedule& schedule, diag::Emitter& diag) {
  using enum ScheduleCheck;
  const auto After = [](auto... checks) { return Bits(checks...); };
  uint32_t passed = 0;
  bool all = true;
  const auto run = [&](ScheduleCheck self, uint32_t needs, auto* check) {
    const bool ok = (passed & needs) == needs && check(schedule, diag);
    if (ok) passed |= Bits(self);
    all = all && ok;
  };
#define PP_SCHEDULE_CHECK(Name, needs, help) \
  run(k##Name, needs, &Schedule##Name);
#include "compiler/check/checks.def"
  return all;
}

}  // namespace pp::check
