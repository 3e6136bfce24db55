#include "compiler/sema/sema.h"

#include <fmt/format.h>

#include <set>

#include "compiler/sema/flatten.h"
#include "compiler/sema/loader.h"
#include "compiler/sema/program.h"
#include "compiler/sema/resolver.h"

namespace pp::sema {
namespace {

CheckedSchedule Wrap(Program program, const FlatSchedule& flat) {
  CheckedSchedule checked;
  for (const auto& owned : flat.quantities) {
    (owned.node->memory ? checked.memory : checked.costs) =
        Quantities{owned.node->text, owned.node->text_span};
  }
  checked.name = program.name;
  auto add = [&](const Param& param) {
    checked.params.push_back(param.name);
    checked.has_default.push_back(param.default_value != kNone);
  };
  add(program.params[program.ranks]);
  add(program.params[program.micro_batches]);
  for (const Param& param : program.params) {
    if (param.name != "P" && param.name != "M") add(param);
  }
  checked.program = std::make_shared<const Program>(std::move(program));
  return checked;
}

// A file of macros alone is there to be imported: its macros wait for use.
void CheckUnusedMacros(const source::SourceManager& sources,
                       const LoadedFile& file,
                       std::set<const ast::MacroDecl*>& used,
                       diag::Emitter& diag) {
  FlatSchedule none;
  for (const ast::MacroDecl& macro : file.file->macros) {
    if (used.count(&macro) > 0) continue;
    std::set<const ast::MacroDecl*> called;
    Resolver(sources, none, called, diag).CheckMacro({&macro, &file});
    used.insert(called.begin(), called.end());
  }
}

void WarnUnusedMacros(const ast::File& file,
                      const std::set<const ast::MacroDecl*>& used,
                      diag::Emitter& diag) {
  for (const ast::MacroDecl& macro : file.macros) {
    if (used.count(&macro) > 0) continue;
    diag.Emit(diag::Code::kUnused, macro.name.span,
              fmt::format("macro `{}` is not used", macro.name.text));
  }
}

}  // namespace

std::vector<CheckedSchedule> Check(source::SourceManager& sources,
                                   const ast::File& file, diag::Emitter& diag) {
  size_t errors_before = diag.errors();
  FileSet files(sources, diag);
  const LoadedFile* loaded = files.Load(file);
  if (loaded == nullptr) return {};
  std::vector<CheckedSchedule> checked;
  std::set<const ast::MacroDecl*> used;
  for (const ast::ScheduleDecl& schedule : file.schedules) {
    auto flat = Flatten({&schedule, loaded}, diag);
    if (!flat) continue;
    size_t before = diag.errors();
    Program program = Resolver(sources, *flat, used, diag).Run();
    if (diag.errors() == before)
      checked.push_back(Wrap(std::move(program), *flat));
  }
  CheckUnusedMacros(sources, *loaded, used, diag);
  WarnUnusedMacros(file, used, diag);
  if (file.schedules.empty()) {
    diag.Emit(diag::Code::kNoSchedule, source::Span{file.file, 0, 0},
              "this file declares no schedule");
  }
  if (diag.errors() > errors_before) return {};
  return checked;
}

}  // namespace pp::sema
