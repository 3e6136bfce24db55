#include "compiler/check/check.h"

#include "compiler/check/accept_schedule.h"
#include "compiler/check/checks.h"

namespace pp::check {
namespace {

template <class... Checks>
constexpr uint32_t Bits(Checks... checks) {
  return (0u | ... | (1u << static_cast<unsigned>(checks)));
}

// Runs checks of one subject whose prerequisites have passed.
class Runner {
 public:
  template <class Check, class Subject>
  void Run(Check self, uint32_t needs,
           bool (*check)(const Subject&, diag::Emitter&),
           const Subject& subject, diag::Emitter& diag) {
    const bool ok = (passed_ & needs) == needs && check(subject, diag);
    if (ok) passed_ |= Bits(self);
    all_ = all_ && ok;
  }
  bool all() const { return all_; }

 private:
  uint32_t passed_ = 0;
  bool all_ = true;
};

}  // namespace

bool CheckSchedule(const ir::Schedule& schedule, diag::Emitter& diag) {
  if (AcceptsSchedule(schedule)) return true;
  using enum ScheduleCheck;
  const auto After = [](auto... checks) { return Bits(checks...); };
  Runner runner;
#define PP_SCHEDULE_CHECK(Name, needs, help) \
  runner.Run(k##Name, needs, &Schedule##Name, schedule, diag);
#include "compiler/check/checks.def"
  return runner.all();
}

bool CheckModule(const bytecode::Module& module, diag::Emitter& diag,
                 const analysis::Assumptions& assumptions) {
  using enum ModuleCheck;
  const auto After = [](auto... checks) { return Bits(checks...); };
  const ModuleContext context{module, analysis::MatchCommunication(module),
                              assumptions};
  Runner runner;
#define PP_MODULE_CHECK(Name, needs, help) \
  runner.Run(k##Name, needs, &Module##Name, context, diag);
#include "compiler/check/checks.def"
  return runner.all();
}

}  // namespace pp::check
