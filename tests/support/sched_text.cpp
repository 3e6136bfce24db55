#include "tests/support/sched_text.h"

#include <fmt/format.h>

#include <cstdlib>

#include "compiler/ir/ir_printer.h"
#include "compiler/parse/parse.h"

namespace pp::testing {

SchedText::SchedText(const std::string& text) {
  Check(sources_.AddText("test.sched", text));
}

SchedText::SchedText(const FromPath& from) {
  auto file = sources_.Load(from.path);
  if (!file) {
    diag_.Emit(diag::Code::kCannotRead, {}, file.error().message());
    return;
  }
  Check(*file);
}

void SchedText::Check(uint32_t file) {
  auto parsed = parse::Parse(sources_, file, diag_);
  if (parsed) schedules_ = sema::Check(sources_, *parsed, diag_);
}

const sema::CheckedSchedule& SchedText::Get(const std::string& name) const {
  for (const auto& schedule : schedules_) {
    if (schedule.name == name) return schedule;
  }
  fmt::print(stderr, "no schedule {} in the test\n{}", name, Said());
  std::abort();
}

expand::Expansion SchedText::Expand(const Values& values,
                                    expand::Options options) {
  if (!ok()) return {};
  return expand::Expand(Only(), {values}, options, diag_);
}

std::string SchedText::Print(const Values& values, expand::Options options) {
  auto expansion = Expand(values, options);
  return expansion.schedule ? ir::Print(*expansion.schedule) : Said();
}

std::string SchedText::Said() const {
  auto place = [&](const diag::Location& where) -> std::string {
    if (!where.span.valid()) return "";
    auto at = sources_.Resolve(where.span.file, where.span.begin);
    return fmt::format("{}:{}: ", at.line, at.column);
  };
  std::string text;
  for (const auto& d : diag_.all()) {
    text += fmt::format("{}{} {}\n", place(d.where), diag::Info(d.code).id,
                        d.message);
    for (const auto& note : d.notes) {
      text += fmt::format("  note {}{}\n", place(note.where), note.message);
    }
    if (!d.help.empty()) text += fmt::format("  help: {}\n", d.help);
  }
  return text;
}

}  // namespace pp::testing
