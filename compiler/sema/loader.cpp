#include "compiler/sema/loader.h"

#include <fmt/format.h>

#include <optional>

#include "compiler/parse/parse.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace pp::sema {
namespace {

// Deeper chains of imports are taken for a mistake; recursion stays bounded.
constexpr size_t kMaxImportDepth = 100;

// The one name of a file however it is spelt; the path itself where there is
// no such file (text given without one).
std::string Identity(const std::string& path) {
  llvm::SmallString<128> real;
  if (llvm::sys::fs::real_path(path, real)) return path;
  return std::string(real.str());
}

std::string Beside(const std::string& importer, const std::string& path) {
  if (llvm::sys::path::is_absolute(path)) return path;
  llvm::SmallString<128> full(llvm::sys::path::parent_path(importer));
  llvm::sys::path::append(full, path);
  llvm::sys::path::remove_dots(full);
  return std::string(full.str());
}

}  // namespace

struct FileSet::Entry {
  std::string name;
  std::optional<ast::File> parsed;  // of an import
  LoadedFile loaded;
  bool done = false;
};

struct FileSet::Importing {
  const Entry* entry;
  const ast::ImportDecl* import;  // null: the main file
};

FileSet::FileSet(source::SourceManager& sources, diag::Emitter& diag)
    : sources_(sources), diag_(diag) {}
FileSet::~FileSet() = default;

const LoadedFile* FileSet::Load(const ast::File& main) {
  std::string name = sources_.Name(main.file);
  auto& entry = by_path_[Identity(name)] = std::make_unique<Entry>();
  entry->name = name;
  entry->loaded.file = &main;
  chain_.push_back({entry.get(), nullptr});
  Resolve(*entry);
  chain_.pop_back();
  return failed_ ? nullptr : &entry->loaded;
}

void FileSet::Resolve(Entry& entry) {
  DeclareOwn(entry);
  for (const ast::ImportDecl& import : entry.loaded.file->imports) {
    Entry* imported = LoadImport(import, entry.name);
    if (imported != nullptr) Take(entry, *imported, import);
  }
  entry.done = true;
}

FileSet::Entry* FileSet::LoadImport(const ast::ImportDecl& import,
                                    const std::string& from) {
  std::string path = Beside(from, import.path);
  auto [slot, fresh] = by_path_.try_emplace(Identity(path));
  if (!fresh) {
    Entry* known = slot->second.get();
    if (known == nullptr) return nullptr;  // did not parse: said already
    if (known->done) return known;
    ReportCycle(import, *known);
    return nullptr;
  }
  if (chain_.size() > kMaxImportDepth) {
    diag_.Emit(diag::Code::kTooDeep, import.span,
               fmt::format("imports nest more than {} deep", kMaxImportDepth));
    failed_ = true;
    return nullptr;
  }
  auto file = sources_.Load(path);
  std::optional<ast::File> parsed;
  if (!file) {
    diag_.Emit(diag::Code::kCannotRead, import.span, file.error().message());
  } else {
    parsed = parse::Parse(sources_, *file, diag_);
  }
  if (!parsed) {
    failed_ = true;
    return nullptr;
  }
  Entry* entry = (slot->second = std::make_unique<Entry>()).get();
  entry->name = path;
  entry->parsed = std::move(parsed);
  entry->loaded.file = &*entry->parsed;
  chain_.push_back({entry, &import});
  Resolve(*entry);
  chain_.pop_back();
  return entry;
}

void FileSet::ReportCycle(const ast::ImportDecl& import, const Entry& again) {
  failed_ = true;
  size_t first = 0;
  while (chain_[first].entry != &again) ++first;
  std::string circle;
  for (size_t i = first; i < chain_.size(); ++i) {
    circle += chain_[i].entry->name + " imports ";
  }
  auto builder = diag_.Emit(
      diag::Code::kImportCycle, import.span,
      fmt::format("imports go round in a circle: {}{}", circle, again.name));
  for (size_t i = first + 1; i < chain_.size(); ++i) {
    builder.Note(chain_[i].import->span,
                 fmt::format("{} is imported here", chain_[i].entry->name));
  }
}

void FileSet::DeclareOwn(Entry& entry) {
  LoadedFile& file = entry.loaded;
  auto declare = [&](auto& table, const auto& decl, const char* kind) {
    auto [at, fresh] = table.try_emplace(decl.name.text);
    if (fresh) {
      at->second = {&decl, &file};
      return;
    }
    diag_
        .Emit(diag::Code::kDuplicateName, decl.name.span,
              fmt::format("{} `{}` is declared twice", kind, decl.name.text))
        .Note(at->second.decl->name.span, "it is declared here first");
  };
  for (const ast::MacroDecl& macro : file.file->macros) {
    declare(file.macros, macro, "macro");
  }
  for (const ast::ScheduleDecl& schedule : file.file->schedules) {
    declare(file.schedules, schedule, "schedule");
  }
}

void FileSet::Take(Entry& entry, const Entry& imported,
                   const ast::ImportDecl& import) {
  auto take = [&](auto& into, const auto& from, const char* kind) {
    for (const auto& [name, visible] : from) {
      auto [at, fresh] = into.try_emplace(name, visible);
      if (fresh || at->second.decl == visible.decl) continue;
      diag_
          .Emit(diag::Code::kDuplicateName, import.span,
                fmt::format("this import brings a second {} `{}`", kind, name))
          .Note(at->second.decl->name.span, "one is declared here")
          .Note(visible.decl->name.span, "the imported one is declared here");
    }
  };
  take(entry.loaded.macros, imported.loaded.macros, "macro");
  take(entry.loaded.schedules, imported.loaded.schedules, "schedule");
}

}  // namespace pp::sema
