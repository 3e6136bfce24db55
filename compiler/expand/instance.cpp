#include "compiler/expand/instance.h"

#include <fmt/format.h>

#include "compiler/diag/suggest.h"

namespace pp::expand {

using diag::Code;
using sema::kNone;

Instance::Instance(const sema::CheckedSchedule& schedule)
    : schedule_(schedule),
      program_(*schedule.program),
      eval_(program_),
      given_(program_.params.size(), false) {}

std::vector<std::pair<std::string, int64_t>> Instance::Params() const {
  std::vector<std::pair<std::string, int64_t>> params;
  for (const std::string& name : schedule_.params) {
    for (sema::Slot slot = 0; slot < program_.params.size(); ++slot) {
      if (program_.params[slot].name != name) continue;
      params.emplace_back(name, eval_.Value(slot));
    }
  }
  return params;
}

std::string Instance::PointText() const {
  std::string text;
  for (const auto& [name, value] : Params()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

void Instance::EmitFault(const std::string& where, diag::Emitter& diag) {
  EvalFault fault = eval_.TakeFault();
  diag.Emit(fault.code, fault.span, fault.message)
      .Note({}, fmt::format("{}, with {}", where, PointText()));
}

Outcome Instance::Bind(const Point& point, diag::Emitter& diag) {
  if (!Take(point, diag) || !TakeDefaults(diag)) return Outcome::kFailed;
  bool ranks = CheckRange(program_.ranks, kMaxRanks, diag);
  bool micro = CheckRange(program_.micro_batches, kMaxMicroBatches, diag);
  if (!ranks || !micro) return Outcome::kFailed;
  ranks_ = static_cast<uint32_t>(eval_.Var(program_.ranks));
  micro_batches_ = static_cast<uint32_t>(eval_.Var(program_.micro_batches));

  // A `require` may be what keeps a let from dividing by zero: those that
  // rest on good lets only are judged first.
  size_t good = 0;
  while (good < program_.lets.size()) {
    int64_t value = eval_.Eval(program_.lets[good].value);
    if (eval_.failed()) break;
    eval_.Var(program_.lets[good].slot) = value;
    ++good;
  }
  std::optional<EvalFault> fault;
  if (eval_.failed()) fault = eval_.TakeFault();
  for (const sema::Require& require : program_.requires_) {
    if (require.lets > good) continue;
    Outcome outcome = Require(require, diag);
    if (outcome != Outcome::kExpanded) return outcome;
  }
  if (!fault) return Outcome::kExpanded;
  diag.Emit(fault->code, fault->span, fault->message)
      .Note({}, fmt::format("in `let {}`, with {}", program_.lets[good].name,
                            PointText()));
  return Outcome::kFailed;
}

bool Instance::Take(const Point& point, diag::Emitter& diag) {
  bool ok = true;
  std::vector<std::string_view> names(schedule_.params.begin(),
                                      schedule_.params.end());
  for (const auto& [name, value] : point.values) {
    size_t slot = 0;
    while (slot < given_.size() && program_.params[slot].name != name) ++slot;
    if (slot == given_.size()) {
      diag.Emit(Code::kUnknownParameter, program_.name_span,
                fmt::format("schedule `{}` has no parameter `{}`",
                            program_.name, name))
          .Note({}, fmt::format("its parameters: {}", fmt::join(names, ", ")))
          .Help(diag::DidYouMean(name, names));
      ok = false;
      continue;
    }
    if (given_[slot]) {
      diag.Emit(Code::kUnknownParameter, program_.name_span,
                fmt::format("parameter `{}` is given twice", name));
      ok = false;
    }
    given_[slot] = true;
    eval_.Var(static_cast<sema::Slot>(slot)) = value;
  }
  return ok;
}

bool Instance::TakeDefaults(diag::Emitter& diag) {
  bool ok = true;
  for (sema::Slot slot = 0; slot < given_.size(); ++slot) {
    const sema::Param& param = program_.params[slot];
    if (given_[slot]) continue;
    if (param.default_value == kNone) {
      const char* option = slot == program_.ranks           ? "-P"
                           : slot == program_.micro_batches ? "-M"
                                                            : "-D";
      diag.Emit(Code::kNoValue, param.span,
                fmt::format("parameter `{}` has no value", param.name))
          .Help(option[1] == 'D' ? fmt::format("-D {}=VALUE", param.name)
                                 : fmt::format("{} VALUE", option));
      ok = false;
      continue;
    }
    if (!ok) continue;  // it may rest on what is missing
    eval_.Var(slot) = eval_.Eval(param.default_value);
    if (eval_.failed()) {
      EmitFault(fmt::format("in the default of `{}`", param.name), diag);
      return false;
    }
  }
  return ok;
}

bool Instance::CheckRange(sema::Slot slot, int64_t most, diag::Emitter& diag) {
  int64_t value = eval_.Var(slot);
  if (value >= 1 && value <= most) return true;
  const sema::Param& param = program_.params[slot];
  diag.Emit(Code::kParameterRange, param.span,
            fmt::format("{} = {} out of range 1..{}", param.name, value, most));
  return false;
}

Outcome Instance::Require(const sema::Require& require, diag::Emitter& diag) {
  int64_t holds = eval_.Eval(require.condition);
  if (eval_.failed()) {
    EmitFault("in this `require`", diag);
    return Outcome::kFailed;
  }
  if (holds != 0) return Outcome::kExpanded;
  std::string message =
      require.message.empty()
          ? fmt::format("`{}` requires `{}`", program_.name, require.text)
          : require.message;
  diag.Emit(Code::kRefused, require.span, message)
      .Note({}, fmt::format("`{}` does not hold with {}{}", require.text,
                            PointText(), Sides(require)));
  return Outcome::kRefused;
}

// Both sides of a comparison, with their values.
std::string Instance::Sides(const sema::Require& require) {
  const sema::Expr& root = program_.exprs[require.condition];
  if (root.kind < sema::ExprKind::kEq || root.kind > sema::ExprKind::kGe) {
    return "";
  }
  return fmt::format(": left {}, right {}", eval_.Eval(root.a),
                     eval_.Eval(root.b));
}

}  // namespace pp::expand
